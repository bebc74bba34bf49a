// Shared bytes: tells ThreadSanitizer that races on bytes of a pool are intended. Of accesses that
// overlap, each byte is one writer's or the other's, as the docs say; readers of metadata bytes
// check a word afterwards that tells them to read again. Only the copies themselves are exempt:
// words, and all of a process's own memory, stay checked.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define CAIRN_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CAIRN_THREAD_SANITIZER 1
#endif
#endif

#ifdef CAIRN_THREAD_SANITIZER
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace cairn::persist {

class SharedBytes {
 public:
#ifdef CAIRN_THREAD_SANITIZER
  SharedBytes() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~SharedBytes() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
#else
  SharedBytes() {}   // "= default" would make it an unused variable
  ~SharedBytes() {}  // NOLINT(modernize-use-equals-default)
#endif
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;
};

}  // namespace cairn::persist
