/* handed_program: a process takes locks and becomes another program, which still has them; and lets
 * go by closing. Prints the same on a covered directory as on a plain one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

/* What another process finds. */
static void ask(const char* when) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    int fd = open("locked", O_RDWR);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 5, .l_len = 1};
    int got = fcntl(fd, F_GETLK, &lock);
    printf("%s: POSIX %d %s", when, got, lock.l_type == F_UNLCK ? "free" : "taken");
    printf("%s, flock %s\n",
           lock.l_type != F_UNLCK && lock.l_pid == getppid() ? " by the parent" : "",
           flock(fd, LOCK_EX | LOCK_NB) == 0 ? "free" : "taken");
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

int main(int count, char** arguments) {
  if (count == 1) {
    int fd = open("locked", O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 10};
    printf("fcntl %d\n", fcntl(fd, F_SETLK, &lock));
    int other = open("locked", O_RDONLY);
    printf("flock %d\n", flock(other, LOCK_SH));
    ask("before");
    char text[2][16];
    snprintf(text[0], 16, "%d", fd), snprintf(text[1], 16, "%d", other);
    execl("/proc/self/exe", "handed", text[0], text[1], (char*)NULL);
    perror("exec");
    return 1;
  }
  ask("after exec");
  int fd = atoi(arguments[1]);
  printf("write %zd\n", write(fd, "still mine", 10));
  ask("after a write");
  close(atoi(arguments[2]));
  ask("after closing the other");
  return 0;
}
