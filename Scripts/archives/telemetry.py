"""The documents of OpenTelemetry's protocol, as its own definitions in protobuf parse them, and what that parser takes in silence."""

import base64
import json
import re

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

IDS = {"traceId": 32, "spanId": 16, "parentSpanId": 16}
TEXTS = {"startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "intValue", "asInt", "count"}
NUMBERS = {"kind", "code", "aggregationTemporality"}


def check_values(value):
    """Identifiers in hexadecimal digits, 64 bits as text, enumerations as numbers."""
    if isinstance(value, list):
        for item in value:
            check_values(item)
    if not isinstance(value, dict):
        return
    for name, item in value.items():
        if name in IDS:
            assert re.fullmatch(f"[0-9a-f]{{{IDS[name]}}}", item), (name, item)
            # The mapping of protobuf has Base64 there.
            value[name] = base64.b64encode(bytes.fromhex(item)).decode()
        elif name in TEXTS:
            assert isinstance(item, str) and item.lstrip("-").isdigit(), (name, item)
        elif name in NUMBERS:
            assert isinstance(item, int), (name, item)
        elif name == "bucketCounts":
            assert all(isinstance(count, str) for count in item), item
        else:
            check_values(item)


def check(path):
    counts = {"spans": 0, "metrics": 0}
    with open(path) as file:
        for line in file:
            assert "S3CR3T" not in line, "the sample has a secret"
            document = json.loads(line)
            check_values(document)
            if "resourceSpans" in document:
                request = json_format.ParseDict(document, ExportTraceServiceRequest())
                counts["spans"] += sum(len(s.spans) for r in request.resource_spans for s in r.scope_spans)
            else:
                request = json_format.ParseDict(document, ExportMetricsServiceRequest())
                counts["metrics"] += sum(len(s.metrics) for r in request.resource_metrics for s in r.scope_metrics)
    assert counts["spans"] > 300 and counts["metrics"] >= 3, counts
    print(f"opentelemetry-proto read {counts['spans']} spans and {counts['metrics']} metrics")
