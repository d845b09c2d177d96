# make demo   watch a suite of calls against a talking agent
# make test   run every check
# Both set themselves up in $(VENV); what is up to date there is not installed again.

VENV ?= .venv
JOBS ?= 2
OUT ?= dist
PYTHON ?= $(shell sh tools/find_python.sh 3.11 3.12 3.13)

# The real programs some tests talk to, as Debian packages. Where they cannot be installed, those tests are skipped.
SIP_PEERS := sip-tester baresip-core kamailio kamailio-tls-modules openssl
BROWSER := chromium
SOUND_PEERS := pulseaudio pulseaudio-utils libasound2-plugins libportaudio2 pipewire pipewire-pulse wireplumber dbus-daemon
APT_PEERS := $(SIP_PEERS) $(SOUND_PEERS) $(BROWSER)

bin := $(VENV)/bin
pip := $(bin)/python -m pip --disable-pip-version-check install --quiet
pytest := $(bin)/pytest$(if $(SEED), --randomly-seed=$(SEED))

.PHONY: demo test lint suite realtime real-agents virtual baresip websockets wheel peers clean
.NOTPARALLEL:

demo: $(VENV)/.demo
	$(bin)/voiceharness demo

test: peers lint suite real-agents realtime

lint: $(VENV)/.dev
	$(bin)/ruff check
	$(bin)/ruff format --check
	$(bin)/mypy
	$(bin)/lint-imports --no-logo

suite: $(VENV)/.dev
	$(pytest) -n $(JOBS) -m "not realtime"

# On the real clock two tests at once would disturb each other's timing: one after another. What else the machine does
# disturbs them too, so a test that fails is tried twice more; a fault that is there fails three times.
realtime: $(VENV)/.dev
	$(pytest) -n 0 -m realtime --reruns 2

# Agents that others wrote, each in an environment of its own: their requirements clash with each other's.
real-agents: $(VENV)/.real-agents

virtual: $(VENV)/.test
	$(pytest) -n $(JOBS) -m virtual

# SIP on the library that has a wheel for every Python.
baresip: $(VENV)/.test
	$(pytest) -n 0 --reruns 2 tests/adapters/sip/test_baresip_backend.py

# Media streams on every version of websockets that they are declared for but the one that the environment has.
WEBSOCKETS := 15 16 17
SOCKET_TESTS := tests/adapters/twilio/test_adapter.py tests/adapters/twilio/test_asgi_server.py tests/scripted/wire

websockets: $(VENV)/.dev
	@installed=$$($(bin)/python -c 'from importlib.metadata import version; print(version("websockets").split(".")[0])'); \
	for version in $(WEBSOCKETS); do \
		[ "$$version" != "$$installed" ] || continue; \
		$(pip) --no-deps --upgrade --target .make/websockets-$$version "websockets==$$version.*" && \
		PYTHONPATH=.make/websockets-$$version $(pytest) -n 0 --reruns 2 $(SOCKET_TESTS) || exit 1; \
	done

# The wheel is built from the source distribution, so that both are known to be whole.
wheel: $(VENV)/.dev
	$(bin)/python -m build --outdir $(OUT)

peers:
	@sh tools/apt_install.sh $(APT_PEERS) || echo "Tests that need them will be skipped."

$(VENV)/.real-agents: tools/setup_real_agents.sh | $(VENV)/.dev
	@sh tools/setup_real_agents.sh $(bin)/python $(VENV)/peers
	@touch $@

clean:
	rm -rf .venv .make dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/.made:
	@sh tools/make_venv.sh "$(PYTHON)" "$(VENV)"
	@touch $@

$(VENV)/.demo: pyproject.toml | $(VENV)/.made
	$(pip) --only-binary :all: --editable '.[demo]'
	@touch $@

# Dependency groups need pip 25.1; a new environment may come with an older one.
$(VENV)/.test $(VENV)/.dev: $(VENV)/.%: pyproject.toml | $(VENV)/.made
	$(pip) --upgrade 'pip>=25.1'
	$(pip) --editable '.[all]' --group $*
	@touch $@
