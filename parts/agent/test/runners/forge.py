"""Runs with the job image's interpreter: makes what an attempt needs from the libraries that only the image has.

Standard input: one JSON object a line, `{source, modelClass, rounds, sites}`. Standard output: for each a line, one JSON object of kits (PEM),
scripts and configs (as the public client renders them) and shards (base64 zips, 100 random digits a site).
"""

import base64
import importlib.util
import io
import json
import os
import sys
import tempfile
import traceback
import zipfile
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NoReturn, Optional

ORG = "resontech"
SERVER = "fl-server"


def main() -> None:
    # The slow part, once for all orders: each is then made by a fork of this process.
    import torch  # noqa: F401
    from resontech.rt.builder import RTJobBuilder  # noqa: F401

    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            make(json.loads(line))
        _, status = os.waitpid(pid, 0)
        if status != 0:
            sys.exit(f"an order could not be made: {os.waitstatus_to_exitcode(status)}")


def make(order: dict) -> NoReturn:
    """In a fork, so that no user's module meets another's."""
    try:
        # The user's module prints when it is imported; the answer goes out alone.
        answer, sys.stdout = sys.stdout, sys.stderr
        scripts, configs = render(order["source"], order["modelClass"], order["rounds"], len(order["sites"]))
        kits = {name: pem.decode() for name, pem in make_kits(order["sites"]).items()}
        made = {"kits": kits, "scripts": scripts, "configs": configs, "shards": make_shards(order["sites"])}
        print(json.dumps(made), file=answer, flush=True)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def render(source: str, model_class: str, rounds: int, sites: int):
    from resontech.rt.builder import RTJobBuilder
    from resontech.rt.config import FederationConfig, ModelConfig, TrainingConfig

    with tempfile.TemporaryDirectory() as folder:
        # The client reads the class's source from its file.
        file = Path(folder) / "user_module.py"
        file.write_text(source)
        spec = importlib.util.spec_from_file_location("user_module", file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["user_module"] = module
        spec.loader.exec_module(module)
        builder = RTJobBuilder(
            TrainingConfig(local_epochs=3, batch_size=32, learning_rate=0.05),
            FederationConfig(num_rounds=rounds, min_clients=sites, job_name="digits"),
            ModelConfig(),
        )
        scripts = builder.render_scripts(getattr(module, model_class))
    rendered = builder.render_configs()
    configs = {
        "config_fed_client.json": rendered["client"],
        "config_fed_server.json": rendered["server"],
        "meta.json": rendered["meta"],
    }
    return scripts, configs


def make_shards(sites: list[str]) -> dict[str, str]:
    import numpy

    generator = numpy.random.default_rng(3)
    shards = {}
    for site in sites:
        data, archive = io.BytesIO(), io.BytesIO()
        numpy.savez(data, images=generator.integers(0, 16, (100, 8, 8)), labels=generator.integers(0, 10, 100))
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("digits/train.npz", data.getvalue())
        shards[site] = base64.b64encode(archive.getvalue()).decode()
    return shards


def make_kits(sites: list[str]) -> dict[str, bytes]:
    """Keys and certificates as contracts/src/agent/federation-certificates.ts describes them."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    start = datetime.now(timezone.utc) - timedelta(minutes=5)
    root_key = ec.generate_private_key(ec.SECP256R1())
    root_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "attempt-1")])

    def usage(*names: str) -> x509.KeyUsage:
        every = "digital_signature content_commitment key_encipherment data_encipherment key_agreement key_cert_sign crl_sign"
        return x509.KeyUsage(**{name: name in names for name in every.split()}, encipher_only=False, decipher_only=False)

    def certificate(subject, key, days):
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(root_name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(start)
            .not_valid_after(start + timedelta(days=days))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        )

    pem = serialization.Encoding.PEM
    root = (
        certificate(root_name, root_key, 366)
        .add_extension(x509.BasicConstraints(True, 0), True)
        .add_extension(usage("key_cert_sign", "crl_sign"), True)
        .sign(root_key, hashes.SHA256())
    )
    kits = {"root.crt": root.public_bytes(pem)}

    def leaf(name: str, common_name: str, hosts: list[str], purpose, role: Optional[str] = None) -> None:
        key = rsa.generate_private_key(65537, 2048)
        attributes = [(NameOID.COMMON_NAME, common_name), (NameOID.ORGANIZATION_NAME, ORG)]
        if role is not None:
            attributes.append((NameOID.UNSTRUCTURED_NAME, role))
        subject = x509.Name([x509.NameAttribute(oid, value) for oid, value in attributes])
        signed = (
            certificate(subject, key, 365)
            .add_extension(x509.BasicConstraints(False, None), True)
            .add_extension(usage("digital_signature", "key_encipherment"), True)
            .add_extension(x509.ExtendedKeyUsage([purpose]), False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()), False)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts]), False)
            .sign(root_key, hashes.SHA256())
        )
        kits[f"{name}.crt"] = signed.public_bytes(pem)
        kits[f"{name}.key"] = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    leaf("server", SERVER, [SERVER, "localhost"], ExtendedKeyUsageOID.SERVER_AUTH)
    leaf("admin", "submitter", ["submitter"], ExtendedKeyUsageOID.CLIENT_AUTH, role="project_admin")
    for site in sites:
        leaf(site, site, [site], ExtendedKeyUsageOID.CLIENT_AUTH)
    return kits


if __name__ == "__main__":
    main()
