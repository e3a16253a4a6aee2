// A bare loop over libcurl in C, which the terminal over libcurl is measured beside.

#ifndef CURL_PEER_H
#define CURL_PEER_H

/// Loads an address so many times, with a number of loads at once on this thread; returns how many failed.
///
/// Each load takes a handle that is free, sets its options and counts the bytes of the body: what a program does at least that
/// loads one thing after the other.
long curl_peer_load(const char *url, int in_flight, long total, long expected_bytes);

#endif
