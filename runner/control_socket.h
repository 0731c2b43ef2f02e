/* SPDX-License-Identifier: MIT */
/* runner/control_socket.h: one listening unix socket in a runtime directory that is ours alone. */
#ifndef RUNNER_CONTROL_SOCKET_H
#define RUNNER_CONTROL_SOCKET_H

#include <stdbool.h>

/* In the runtime directory; status looks for it there. */
#define CONTROL_SOCKET_NAME "control.sock"

/* Descriptors are close-on-exec; -1 where closed. */
struct control_socket {
	char *path;
	int lock; /* the runtime directory, locked while we live */
	int fd; /* listening, non-blocking */
};

/*
 * Takes the directory and listens on <runtime_dir>/control.sock, mode 0660 from birth;
 * a socket that an earlier process left is replaced. False with *ret_error one line
 * (free()) if another process holds the directory, or on any other failure: then nothing is
 * held and nothing of another process was touched.
 */
bool control_socket_open(struct control_socket *control, const char *runtime_dir, char **ret_error);

/* Unlinks the socket, closes what is open and gives the directory free. */
void control_socket_close(struct control_socket *control);

#endif
