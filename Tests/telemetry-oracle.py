#!/usr/bin/env python3
"""Reads headers with the SDK of OpenTelemetry, the package opentelemetry-sdk of PyPI.

  Tests/telemetry-oracle.py          ends with 0 if the SDK is there, and with 77 if it is not
  Tests/telemetry-oracle.py parents  reads values of traceparent, a line each, and prints the trace, the span and the flags, or -
"""
import sys

try:
    from opentelemetry import trace
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:
    sys.exit(77)


def parent(value):
    extracted = TraceContextTextMapPropagator().extract({"traceparent": value})
    context = trace.get_current_span(extracted).get_span_context()
    if not context.is_valid:
        return "-"
    return f"{context.trace_id:032x} {context.span_id:016x} {context.trace_flags:02x}"


if len(sys.argv) > 1:
    for line in sys.stdin:
        print(parent(line.removesuffix("\n")))
