// SPDX-License-Identifier: MIT
/* A reserve of descriptors: each of the agent's connections has its place from the start. */
#include "runner/consul_sockets.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static void fill(int *place)
{
	/* Right after a close only a system that is full can refuse it: then the place is empty. */
	*place = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void consul_sockets_init(struct consul_sockets *sockets)
{
	for (size_t i = 0; i < CONSUL_CONNECTIONS; i++)
		fill(&sockets->places[i]);
	sockets->free_places = CONSUL_CONNECTIONS;
}

void consul_sockets_finish(struct consul_sockets *sockets)
{
	for (size_t i = 0; i < sockets->free_places; i++) {
		if (sockets->places[i] >= 0)
			(void)close(sockets->places[i]);
	}
	sockets->free_places = 0;
}

void consul_sockets_lend(struct consul_sockets *sockets)
{
	int *place;

	if (sockets->free_places == 0)
		return;
	place = &sockets->places[--sockets->free_places];
	if (*place >= 0)
		(void)close(*place);
	*place = -1;
}

void consul_sockets_take_back(struct consul_sockets *sockets)
{
	if (sockets->free_places < CONSUL_CONNECTIONS)
		fill(&sockets->places[sockets->free_places++]);
}

/* CURLOPT_OPENSOCKETFUNCTION: the place is given up and its number is free at once. */
static curl_socket_t open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct consul_sockets *sockets = data;
	int fd;

	(void)purpose;
	consul_sockets_lend(sockets);
	fd = socket(address->family, address->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
		address->protocol);
	if (fd < 0)
		consul_sockets_take_back(sockets);
	return fd;
}

/* CURLOPT_CLOSESOCKETFUNCTION */
static int close_socket(void *data, curl_socket_t fd)
{
	int result = close(fd);

	consul_sockets_take_back(data);
	return result;
}

void consul_sockets_use(struct consul_sockets *sockets, CURL *easy)
{
	(void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	(void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, sockets);
	(void)curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
	(void)curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, sockets);
}
