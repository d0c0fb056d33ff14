"""In: a store, how often and at which hours. Out: its unattended runs: a cron line, a systemd user timer or a launchd agent."""
