// Stands for a library whose own needs are not met: a half-installed driver.
extern "C" {
int tiny_absent_everywhere();
int tiny_half();
int tiny_half() {
    return tiny_absent_everywhere();
}
}
