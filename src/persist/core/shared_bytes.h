// Bytes in a pool are everybody's: of accesses that overlap each byte is one writer's or the
// other's, as docs say; readers of metadata bytes look at a word afterwards that tells them to read
// again. For ThreadSanitizer these are races. It is told here that they are meant, for the copies
// themselves only: words, and all of a process's own memory, stay under its eyes.
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
  SharedBytes() {}   // not "= default": then it would be an unused variable
  ~SharedBytes() {}  // NOLINT(modernize-use-equals-default)
#endif
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;
};

}  // namespace cairn::persist
