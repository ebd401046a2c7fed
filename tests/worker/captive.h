/* What a decoder that somebody took over may try: the names, by which captive.c has the functions.
 */
#ifndef TESTS_WORKER_CAPTIVE_H
#define TESTS_WORKER_CAPTIVE_H

#define CAPTIVE_ATTEMPTS(X)                                                                        \
    X(open)                                                                                        \
    X(openat)                                                                                      \
    X(openat_beside) X(openat2) X(creat) X(open_path) X(open_temporary) X(open_by_handle) X(       \
        open_own_memory) X(open_parent_memory) X(open_own_file_again) X(stat) X(fstatat) X(statx)  \
        X(access) X(readlink) X(getdents) X(getcwd) X(chdir) X(chroot) X(mkdir) X(unlink) X(       \
            rename) X(link) X(symlink) X(mount) X(fsopen) X(watch) X(write_file) X(pwrite_file)    \
            X(truncate_file) X(allocate_file) X(chmod_file) X(chown_file) X(lock_file)             \
                X(lease_file) X(seal_file) X(ioctl_file) X(share_file) X(write_output) X(          \
                    write_socket) X(duplicate) X(send_elsewhere) X(splice) X(sendfile) X(run_page) \
                    X(map_page) X(map_code) X(map_file_code) X(key_protect) X(execve) X(execveat)  \
                        X(persona) X(fork) X(vfork) X(clone_process) X(clone3) X(new_user)         \
                            X(enter_space) X(kill_parent) X(kill_group) X(kill_thread) X(tkill) X( \
                                queue_signal) X(pidfd) X(own_by_signal) X(ptrace) X(be_traced)     \
                                X(read_process) X(write_process) X(compare_process) X(priority)    \
                                    X(limit) X(limit_parent) X(dumpable) X(other_handler) X(       \
                                        another_filter) X(set_user) X(capabilities) X(reboot)      \
                                        X(socket_unix) X(socket_tcp) X(socket_udp) X(socket_tcp6)  \
                                            X(socket_raw) X(socket_packet) X(socket_netlink) X(    \
                                                socket_crypto) X(socket_host) X(socketpair)        \
                                                X(connect) X(bind) X(accept) X(socket_option) X(   \
                                                    keyctl) X(add_key) X(io_uring) X(aio)          \
                                                    X(userfaultfd) X(bpf) X(perf) X(shared_memory) \
                                                        X(message_queue) X(queue_by_name)          \
                                                            X(module) X(kexec) X(clock) X(timer)   \
                                                                X(alarm) X(swap) X(kernel_log)     \
                                                                    X(secret_memory)               \
                                                                        X(no_such_call)

#endif
