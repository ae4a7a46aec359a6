# Two commands set everything up on a fresh machine:  make demo   and   make test
BUILD ?= build
CMAKE_FLAGS ?=
# Everything `cleave` needs at run time, and nothing else: no tests, no benchmarks.
TOOL = cleave cleave-cc cleave_pass cleave_rt cleave_symbolic_module
FORMATTED = git ls-files 'src/*.h' 'src/*.cpp' 'src/*.c' 'tests/*.h' 'tests/*.cpp' 'bench/*.h' 'bench/*.cpp'

.PHONY: all packages configure tool build demo test bench soak tables format format-check tidy clean

all: build

packages:
	@scripts/install-packages

configure: packages
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_C_COMPILER=clang-19 \
	  -DCMAKE_BUILD_TYPE=RelWithDebInfo $(CMAKE_FLAGS) > $(BUILD).configure.log 2>&1 \
	  || { cat $(BUILD).configure.log; exit 1; }
	@rm -f $(BUILD).configure.log

tool: configure
	@cmake --build $(BUILD) --target $(TOOL)

build: configure
	@cmake --build $(BUILD)

demo: tool
	@scripts/demo $(BUILD)

test: build
	@cd $(BUILD) && ctest --output-on-failure -j2

tables: build
	@cmake --build $(BUILD) --target programs programs_cleave
	@scripts/tables/make_tables.py $(BUILD)
	@for engine in check predict replay static hunt; do \
	  tests/programs/run.py $$engine . $(BUILD) || [ $$? -eq 77 ] || exit 1; done

bench: build
	@scripts/bench $(BUILD)

# Kills, signals, hostile files, replays and parallel runs for an hour, or MINUTES=5.
soak: build
	@scripts/soak $(BUILD) --minutes $(or $(MINUTES),60)

format: packages
	@$(FORMATTED) | xargs clang-format-19 -i

format-check: packages
	@$(FORMATTED) | xargs clang-format-19 --dry-run --Werror

tidy: build
	@git ls-files 'src/*.cpp' | xargs clang-tidy-19 -p $(BUILD) --quiet

clean:
	rm -rf $(BUILD)
