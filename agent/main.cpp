// The composition root: the only file that knows every folder.
#include <cstdio>

int main() {
    std::puts("gpucheck");
    return 2;
}
