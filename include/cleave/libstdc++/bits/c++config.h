// Stands in front of libstdc++'s own when cleave-c++ compiles. Before C++20 the functions of std::string come compiled with
// the library, where nobody sees what they do. -1 is the library's way to say that they are to be compiled into
// the program instead, as in C++20 and with _GLIBCXX_ASSERTIONS; nothing else changes.
#pragma GCC system_header
#include_next <bits/c++config.h>
#if defined(_GLIBCXX_EXTERN_TEMPLATE) && _GLIBCXX_EXTERN_TEMPLATE > 0
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE -1
#endif
