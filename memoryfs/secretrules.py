"""In: nothing. Out: the rules that find secrets by their form, from detect-secrets and our own for what it
lacks.

A rule runs only where one of its `literals` stands in the text (compared in lower case), which keeps a scan
of megabytes cheap. `size` is the full length of a key of fixed length: such a key is also found when it was
broken over two lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

# A boundary before a key; an escaped line end (`\n` written as two characters) counts as one too.
_LEFT = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"


@dataclass(frozen=True, slots=True)
class Rule:
    """One form of secret; `group` is the part of the match that is secret."""

    kind: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    group: int = 0
    size: int = 0


def _own(kind: str, literals: str, pattern: str, *, left: bool = True, size: int = 0, group: int = 0) -> Rule:
    return Rule(
        kind, tuple(literals.lower().split()), re.compile((_LEFT if left else "") + pattern), group, size
    )


OWN: tuple[Rule, ...] = (
    _own("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{30,251}", left=False, size=40),
    _own("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,251}", left=False, size=93),
    _own("aws-key", "akia asia abia acca", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])", size=20),
    _own("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,}", left=False),
    _own("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|or|None|service)-[A-Za-z0-9_-]{16,}"),
    _own("openai-key", "sk-", r"sk-[A-Za-z0-9]{20,}(?![A-Za-z0-9-])", size=51),
    _own(
        "stripe-key",
        "sk_ rk_ whsec_",
        r"(?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{24,})",
    ),
    _own("slack-token", "xox", r"xox[abceoprs](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}", left=False),
    _own("slack-token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{20,}"),
    _own(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9_/+-]{20,})",
        left=False,
        group=1,
    ),
    _own(
        "discord-webhook",
        "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/(\d+/[\w-]{40,})",
        left=False,
        group=1,
    ),
    _own(
        "gitlab-token",
        "glpat- gldt- glft- glsoat- glrt- glptt- glcbt- glimt- glagent- gloas-",
        r"gl(?:pat|dt|ft|soat|rt|ptt|cbt|imt|agent|oas)-[A-Za-z0-9_-]{20,}",
        left=False,
        size=26,
    ),
    _own("google-key", "aiza", r"AIza[A-Za-z0-9_-]{35}", size=39),
    _own("google-secret", "gocspx- ya29.", r"(?:GOCSPX-[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{20,})"),
    _own("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}", left=False, size=40),
    _own("pypi-token", "pypi-", r"pypi-(?:Ag[A-Za-z0-9_-]{20,}|[A-Za-z0-9_-]{50,})"),
    _own("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{30,}(?![A-Za-z0-9_])", size=37),
    _own("sendgrid-key", "sg.", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _own(
        "jwt",
        "eyj",
        r"eyJ[A-Za-z0-9_-]{8,}\.(?:eyJ[A-Za-z0-9_-]{4,}|[A-Za-z0-9_-]{20,})(?:\.[A-Za-z0-9_-]*)?(?:\.[\w-]+){0,2}",
    ),
    _own("telegram-token", ":aa", r"\d{8,10}:AA[A-Za-z0-9_-]{32,33}(?![A-Za-z0-9_-])"),
    _own(
        "azure-key",
        "accountkey= sharedaccesskey=",
        r"(?i:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{30,}={0,2})",
        left=False,
        group=1,
    ),
    _own("azure-sas", "sig=", r"[?&]sig=([A-Za-z0-9%+/=_-]{30,})", left=False, group=1),
    _own("twilio-key", "sk", r"SK[0-9a-f]{32}(?![0-9A-Za-z])", left=False, size=34),
    _own("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}", left=False),
    _own("mailgun-key", "key-", r"key-[0-9a-f]{32}(?![0-9A-Za-z])"),
    _own("square-token", "sq0", r"sq0[a-z]{3}-[0-9A-Za-z_-]{22,}"),
    _own("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    _own("digitalocean-token", "_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _own("linear-key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    _own("notion-token", "secret_ ntn_", r"(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,})(?![A-Za-z0-9_])"),
    _own("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    _own("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[A-Za-z0-9_-]{20,}"),
    _own("databricks-token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?(?![0-9A-Za-z])"),
    _own(
        "model-key",
        "gsk_ xai- r8_ pplx- fw_ nvapi- csk- tgp_v1_",
        r"(?:gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{37}|pplx-[A-Za-z0-9]{40,}|fw_[A-Za-z0-9]{22,}"
        r"|nvapi-[\w-]{40,}|csk-[a-z0-9]{40,}|tgp_v1_[\w-]{40,})(?![A-Za-z0-9_])",
    ),
    _own(
        "service-token",
        "figd_ sbp_ dp.pt. pul- atatt3 atbb nrak- sntrys_ sntryu_ glsa_ pscale_ rubygems_ phx_ "
        "sb_secret_ tskey- hrku- ops_eyj",
        r"(?:figd_[\w-]{36,}|sbp_[a-f0-9]{40}|dp\.pt\.[A-Za-z0-9]{40,}|pul-[a-f0-9]{40}|ATATT3[\w=-]{50,}|ATBB[A-Za-z0-9]{24,}"
        r"|NRAK-[A-Z0-9]{27}|sntry[su]_[\w=+/.-]{40,}|glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}|pscale_(?:tkn|pw|oauth)_[\w.-]{32,}"
        r"|rubygems_[0-9a-f]{48}|phx_[A-Za-z0-9]{40,}|sb_secret_[\w-]{20,}|tskey-[a-z]+-[A-Za-z0-9-]{20,}"
        r"|HRKU-[\w-]{30,}|ops_eyJ[A-Za-z0-9_-]{40,})",
    ),
    _own(
        "aws-key",
        "secret",
        r"(?i:secret[ _-]?access[ _-]?key)[\"'`*\]]{0,4}\s{0,3}(?:is|:=|=>|[:=])?[*]{0,2}\s{0,3}[\"'`*]{0,3}((?=[A-Za-z/+]*\d)[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        left=False,
        group=1,
    ),
    _own("azure-key", "q~", r"(?<![~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])"),
    _own("postman-key", "pmak-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _own("square-token", "eaaa", r"(?<![+/])EAAA[A-Za-z0-9_-]{50,62}(?![A-Za-z0-9_+/=-])"),
    _own("braintree-token", "access_token$", r"access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    _own("resend-key", "re_", r"re_[A-Za-z0-9]{8}_(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{24}(?![A-Za-z0-9_])"),
    _own("tavily-key", "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,}"),
    _own("firebase-key", ":apa91b", r"[A-Za-z0-9_-]{11}:APA91b[A-Za-z0-9_-]{60,}"),
    _own("age-key", "age-secret-key-", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    _own(
        "putty-key",
        "private-lines:",
        r"Private-Lines: \d+\s*\n((?:[A-Za-z0-9+/=]{20,}\s*\n?)+)",
        left=False,
        group=1,
    ),
)

# Plug-ins of detect-secrets that name a secret by its form. Its keyword, entropy, IP and AP… rules are left
# out: they also mark ordinary code. The literals are what a match must contain, in lower case.
_GITLAB = (
    "glpat-",
    "gldt-",
    "glft-",
    "glsoat-",
    "glrt-",
    "gr1348941",
    "glcbt-",
    "glimt-",
    "glptt-",
    "glagent-",
    "gloas-",
)
_PLUGINS: dict[str, tuple[str, tuple[str, ...]]] = {
    "artifactory.ArtifactoryDetector": ("artifactory-key", ("akc",)),
    "aws.AWSKeyDetector": ("aws-key", ("akia", "asia", "abia", "acca", "a3t", "aws")),
    "azure_storage_key.AzureStorageKeyDetector": ("azure-key", ("accountkey=",)),
    "cloudant.CloudantDetector": ("cloudant-key", ("cloudant",)),
    "discord.DiscordBotTokenDetector": ("discord-token", (".",)),
    "github_token.GitHubTokenDetector": ("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    "gitlab_token.GitLabTokenDetector": ("gitlab-token", _GITLAB),
    "mailchimp.MailchimpDetector": ("mailchimp-key", ("-us",)),
    "npm.NpmDetector": ("npm-token", ("_authtoken",)),
    "openai.OpenAIDetector": ("openai-key", ("t3blbkfj",)),
    "pypi_token.PypiTokenDetector": ("pypi-token", ("pypi-age",)),
    "sendgrid.SendGridDetector": ("sendgrid-key", ("sg.",)),
    "slack.SlackDetector": ("slack-token", ("xox", "hooks.slack.com")),
    "softlayer.SoftlayerDetector": ("softlayer-key", ("softlayer",)),
    "square_oauth.SquareOAuthDetector": ("square-token", ("sq0csp-",)),
    "stripe.StripeDetector": ("stripe-key", ("k_live_",)),
    "telegram_token.TelegramBotTokenDetector": ("telegram-token", (":aa",)),
}
_BOUNDED = {"discord-token", "mailchimp-key", "telegram-token"}


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule; the first call imports the plug-ins of detect-secrets (about 0.1 s)."""
    from importlib import import_module

    found = list(OWN)
    for name, (kind, literals) in _PLUGINS.items():
        module, _, plugin = name.partition(".")
        for pattern in getattr(import_module(f"detect_secrets.plugins.{module}"), plugin).denylist:
            if pattern.pattern.startswith('(?:\\s|=|:|"|^)AP['):
                continue
            if kind in _BOUNDED:
                pattern = re.compile(rf"(?<![\w-])(?:{pattern.pattern})(?![\w-])", pattern.flags)
            found.append(
                Rule(kind, literals, pattern, 1 if pattern.groups == 1 and kind not in _WHOLE else 0)
            )
    return tuple(found)


_WHOLE = {"github-token", "gitlab-token"}  # their only group is the prefix


@cache
def literals() -> tuple[str, ...]:
    """Every literal of the rules, each once."""
    return tuple(sorted({literal for rule in rules() for literal in rule.literals}))


# Beginnings of keys that are worth finding in base64 too, as text: see `base64_marks`.
_ENCODED = (
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "AKIA",
    "ASIA",
    "sk-ant-",
    "sk-proj-",
    "xoxb-",
    "xoxp-",
    "glpat-",
    "AIza",
    "npm_",
    "pypi-Ag",
    "sk_live_",
    "rk_live_",
    "PRIVATE KEY-----",
    "hf_",
    "sk-",
    "eyJhbGci",
    "://",
    "SG.",
)


@cache
def base64_marks() -> tuple[str, ...]:
    """What base64 of a text that holds one of the known beginnings must contain, for each of the three
    alignments."""
    from base64 import b64encode

    marks = []
    for start in _ENCODED:
        if len(start) < 4:
            continue
        for shift in range(3):
            encoded = b64encode(b"\0" * shift + start.encode()).decode().rstrip("=")
            skip = (shift * 8 + 5) // 6  # characters that also hold bits of what stands before
            whole = (shift + len(start)) * 8 // 6
            marks.append(encoded[skip:whole])
    return tuple(dict.fromkeys(m for m in marks if len(m) >= 4))
