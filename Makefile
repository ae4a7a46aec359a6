# Two commands set everything up on a fresh machine:  make demo   and   make test
BUILD ?= build
CMAKE_FLAGS ?=

.PHONY: all install build demo test bench tables format tidy clean

all: build

install:
	@scripts/install-packages

build: install
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_C_COMPILER=clang-19 \
	  -DCMAKE_BUILD_TYPE=RelWithDebInfo $(CMAKE_FLAGS) > $(BUILD).configure.log 2>&1 \
	  || { cat $(BUILD).configure.log; exit 1; }
	@rm -f $(BUILD).configure.log
	@cmake --build $(BUILD)

demo: build
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

format:
	@git ls-files 'src/*.h' 'src/*.cpp' 'src/*.c' 'tests/*.h' 'tests/*.cpp' 'bench/*.cpp' | xargs clang-format-19 -i

tidy: build
	@git ls-files 'src/*.cpp' | xargs clang-tidy-19 -p $(BUILD) --quiet

clean:
	rm -rf $(BUILD)
