// Stands for a vendor's library that is whole.
extern "C" {
int tiny_answer();
int tiny_answer_v2();
int tiny_answer() {
    return 1;
}
int tiny_answer_v2() {
    return 2;
}
}
