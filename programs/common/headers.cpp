// Exists so that the suite's precompiled header has a target to belong to.
int main() { return 0; }
