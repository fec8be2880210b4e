"""Prints requests signed by botocore, as JSON, for AWSSignerV4 to be held against.

    generate-vectors.py SEED COUNT

Needs botocore (pip install botocore). The committed vectors.json is the output for seed 1 and count 400.
"""
import base64
import datetime
import json
import random
import sys
from types import SimpleNamespace
from urllib.parse import quote

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

ALPHABET = "abcXYZ0189-._~ /?&=+%:@!$'()*,;[]#\"<>|äß漢😀"
SERVICES = ["s3", "dynamodb", "execute-api", "sts", "es"]


def text(rng, longest):
    return "".join(rng.choice(ALPHABET) for _ in range(rng.randint(1, longest)))


def path(rng, is_s3):
    segments = []
    for _ in range(rng.randint(0, 4)):
        kind = rng.random()
        if kind < 0.15:
            segments.append(rng.choice(["", ".", ".."]))
        else:
            # S3 wants everything encoded; the others take the legal characters as they are, too.
            segments.append(quote(text(rng, 6), safe="~" if is_s3 or rng.random() < 0.5 else "~:@!$'()*+,;="))
    return "/" + "/".join(segments)


def case(rng, number):
    service = rng.choice(SERVICES)
    is_s3 = service == "s3"
    presigned = rng.random() < 0.3
    scheme = rng.choice(["https", "https", "http"])
    host = rng.choice(["bucket.s3.amazonaws.com", "Example.COM", "localhost:8000", "h.example:443", "h.example:80", "[::1]:9000"])
    names = list(dict.fromkeys(text(rng, 5) for _ in range(rng.randint(0, 4))))
    if not presigned and names and rng.random() < 0.3:
        names.append(names[0])
    items = [quote(name, safe="-_.~") + "=" + quote(text(rng, 6) if rng.random() < 0.8 else "", safe="-_.~") for name in names]
    url = f"{scheme}://{host}{path(rng, is_s3)}" + ("?" + "&".join(items) if items else "")
    method = rng.choice(["GET", "HEAD", "DELETE"] if presigned else ["GET", "PUT", "POST", "DELETE", "PATCH"])
    body = b"" if presigned or method == "GET" else rng.randbytes(rng.choice([0, 1, 17, 1000]))
    headers = []
    for _ in range(rng.randint(0, 3)):
        headers.append((f"X-Custom-{rng.randint(1, 3)}", " ".join(rng.choice(["a", "b  c", "d\te", "ü"]) for _ in range(rng.randint(1, 3)))))
    # No Accept-Encoding: botocore's session adds it behind the signature, which would cover it here.
    for name, value in [("Content-Type", "application/json"), ("User-Agent", "x"), ("Range", "bytes=0-9"),
                        ("x-amz-acl", "private"), ("Connection", "close")]:
        if rng.random() < 0.2:
            headers.append((name, value))
    unsigned = not presigned and scheme == "https" and rng.random() < 0.2
    token = rng.choice([None, None, base64.b64encode(rng.randbytes(24)).decode()])
    credentials = Credentials("AKID" + str(rng.randint(0, 9999)), base64.b64encode(rng.randbytes(30)).decode(), token)
    region = rng.choice(["us-east-1", "eu-central-1", "cn-north-1"])
    expires = rng.choice([1, 300, 604800])
    time = datetime.datetime.fromtimestamp(rng.randint(0, 4102444800), datetime.timezone.utc)

    request = AWSRequest(method=method, url=url, data=body)
    for name, value in headers:
        request.headers.add_header(name, value)
    if unsigned:
        request.context["payload_signing_enabled"] = False
        request.context["client_config"] = SimpleNamespace(
            s3={"payload_signing_enabled": False})
    if presigned:
        kind = botocore.auth.S3SigV4QueryAuth if is_s3 else botocore.auth.SigV4QueryAuth
        signer = kind(credentials, service, region, expires=expires)
    else:
        kind = botocore.auth.S3SigV4Auth if is_s3 else botocore.auth.SigV4Auth
        signer = kind(credentials, service, region)
    botocore.auth.get_current_datetime = lambda: time
    signer.add_auth(request)
    return {
        "number": number, "method": method, "url": url, "headers": [list(h) for h in headers], "service": service, "region": region,
        "body": base64.b64encode(body).decode(), "time": int(time.timestamp()), "accessKeyID": credentials.access_key,
        "secretAccessKey": credentials.secret_key, "sessionToken": token, "unsigned": unsigned,
        "expires": expires if presigned else None,
        "authorization": request.headers.get("Authorization"),
        "contentHash": request.headers.get("X-Amz-Content-SHA256"),
        "signature": request.url.rpartition("X-Amz-Signature=")[2] if presigned else None,
    }


def main():
    rng = random.Random(int(sys.argv[1]))
    print("[")
    cases = (json.dumps(case(rng, n), ensure_ascii=True) for n in range(int(sys.argv[2])))
    print(",\n".join(cases))
    print("]")


main()
