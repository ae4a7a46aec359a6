// Works for ever, and never does the same twice.
volatile unsigned long counter;

int main() {
  for (;;) counter = counter + 1;
}
