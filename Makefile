.PHONY: run test test-all

run:
	./run

test:
	./run test

test-all:
	./run test-all
