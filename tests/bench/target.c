// SPDX-License-Identifier: MIT
/* An HTTP server for measurements: answers at once and notes when each request came. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Room for 2,000 requests a second over half an hour; the file is sparse. */
#define RECORD_MAX ((uint64_t)4 * 1024 * 1024)
#define DESCRIPTOR_MAX 65536
#define REQUEST_MAX 2048
#define EVENTS_MAX 256

struct record {
	double at; /* CLOCK_MONOTONIC, s */
	uint32_t check;
	uint32_t connections; /* accepted so far */
};

/* Read by others while we write: count is stored after its record. */
struct log {
	volatile uint64_t count;
	uint64_t unused;
	struct record records[RECORD_MAX];
};

struct connection {
	size_t length;
	char request[REQUEST_MAX];
};

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
			     "Content-Length: 6\r\n\r\nready\n";
static struct connection *connections[DESCRIPTOR_MAX];
static uint32_t accepted;
static struct log *noted;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static struct log *open_log(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	void *map;

	if (fd < 0 || ftruncate(fd, (off_t)sizeof(struct log)) != 0)
		die(path);
	map = mmap(NULL, sizeof(struct log), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		die("mmap");
	close(fd);
	return map;
}

static int listen_on(uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
		bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
		listen(fd, SOMAXCONN) != 0)
		die("listen");
	return fd;
}

static void accept_all(int listener, int poll)
{
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

		if (fd < 0)
			return;
		if (fd >= DESCRIPTOR_MAX || epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event) != 0) {
			close(fd);
			continue;
		}
		/* Kept when the connection ends, for the next one with this number. */
		if (connections[fd] == NULL)
			connections[fd] = malloc(sizeof(*connections[fd]));
		if (connections[fd] == NULL)
			die("malloc");
		connections[fd]->length = 0;
		accepted++;
	}
}

/* "GET /17 HTTP/1.1": check 17. */
static void note(const char *request)
{
	const char *slash = strchr(request, '/');
	uint64_t place = noted->count;

	if (place == RECORD_MAX)
		return;
	noted->records[place] = (struct record){
		.at = now(),
		.check = slash != NULL ? (uint32_t)strtoul(slash + 1, NULL, 10) : 0,
		.connections = accepted,
	};
	__sync_synchronize();
	noted->count = place + 1;
}

/* false: the connection is over. */
static bool serve(int fd)
{
	struct connection *connection = connections[fd];
	ssize_t got = recv(fd, connection->request + connection->length,
		REQUEST_MAX - 1 - connection->length, 0);

	if (got <= 0)
		return false;
	connection->length += (size_t)got;
	connection->request[connection->length] = '\0';
	if (strstr(connection->request, "\r\n\r\n") == NULL)
		return connection->length < REQUEST_MAX - 1;
	note(connection->request);
	connection->length = 0;
	return send(fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL) == (ssize_t)sizeof(answer) - 1;
}

int main(int argc, char **argv)
{
	struct epoll_event events[EVENTS_MAX];
	struct epoll_event listening = {.events = EPOLLIN};
	int listener, poll;

	if (argc != 3) {
		(void)fputs("usage: bench_target PORT LOG\n", stderr);
		return 2;
	}
	noted = open_log(argv[2]);
	listener = listen_on((uint16_t)strtoul(argv[1], NULL, 10));
	poll = epoll_create1(EPOLL_CLOEXEC);
	listening.data.fd = listener;
	if (poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, listener, &listening) != 0)
		die("epoll");
	for (;;) {
		int count = epoll_wait(poll, events, EVENTS_MAX, -1);

		for (int i = 0; i < count; i++) {
			int fd = events[i].data.fd;

			if (fd == listener)
				accept_all(listener, poll);
			else if (!serve(fd))
				close(fd);
		}
	}
}
