"""Secrets: found wherever they stand, masked whole, and not seen where there are none.

The samples are put together at run time, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.checks.safety import find_secrets, mask_secrets, scan

R = "aB3dE5gH7jK9mN2pQ4rS6tU8vW1xY0zC"  # stands for chance


def names(text: str, kind: str = "card") -> list[str]:
    return [f.name for f in scan(text, kind=kind) if f.severity == "error"]


BLOCK = "-----BEGIN {0}PRIVATE KEY-----\n" + "\n".join([R * 2] * 3) + "\n-----END {0}PRIVATE KEY-----"
TOKENS = [
    ("private-key", BLOCK.format("RSA ")),
    ("private-key", BLOCK.format("OPENSSH ")),
    ("private-key", BLOCK.format("")),
    ("aws-access-key", "AKIA" + "QWERTYUI2345ASDF"),
    ("github-token", "ghp_" + R + "abcd"),
    ("github-token", "github_pat_" + R + "_" + R),
    ("gitlab-token", "glpat-" + R[:20]),
    ("slack-token", "xoxb-" + "1234567890-0987654321-" + R[:24]),
    ("slack-webhook", "hooks.slack.com/services/" + "T0A1B2C3D/B0A1B2C3D/" + R[:24]),
    ("google-api-key", "AIza" + R + "xyz"),
    ("google-oauth-secret", "GOCSPX-" + R[:28]),
    ("stripe-key", "sk_live_" + R[:24]),
    ("stripe-key", "rk_test_" + R[:24]),
    ("anthropic-key", "sk-ant-" + "api03-" + R * 2),
    ("anthropic-key", "sk-ant-" + "api03-" + R + "xxxx-AAAAAA"),
    ("openai-key", "sk-" + R + R[:16]),
    ("openai-key", "sk-proj-" + R),
    ("npm-token", "npm_" + R + "abcd"),
    ("pypi-token", "pypi-" + "AgEIcHlwaS5vcmc" + R * 2),
    ("huggingface-token", "hf_" + R + "ab"),
    ("jwt", "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0In0." + R),
]


@pytest.mark.parametrize(("name", "token"), TOKENS)
@pytest.mark.parametrize(
    "around", ["{}", "use {} here", "用{}登录", 'x = "{}"', "- `{}`\n", "第一行\n\nsecond {}, third"]
)
def test_a_token_is_refused_and_masked_wherever_it_stands(name: str, token: str, around: str) -> None:
    text = around.format(token)
    for kind in ("card", "source", "brief"):
        assert names(text, kind) == [name]
    assert mask_secrets(text) == around.format(f"[secret: {name}]")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("password = Tr0ub4dor&3xy", "Tr0ub4dor&3xy"),
        ('password: "Xk9#mQ2vL8pz"', "Xk9#mQ2vL8pz"),
        ("PASSWORD=Xk9mQ2vL8pz7", "Xk9mQ2vL8pz7"),
        ('{"db_password": "Xk9#mQ2vL8pz"}', "Xk9#mQ2vL8pz"),
        ("the password is Xk9#mQ2vL8pz.", "Xk9#mQ2vL8pz"),
        ("api_key: " + R, R),
        ("API-KEY = '" + R[:16] + "'", R[:16]),
        ("AWS_SECRET_ACCESS_KEY=" + R + "/bPxRfiC", R + "/bPxRfiC"),
        ("client_secret => " + R, R),
        ("Authorization: Bearer " + R, R),
        ("mysql --password Xk9#mQ2vL8pz", "Xk9#mQ2vL8pz"),
        ("SECRET_KEY: " + R, R),
        ("token=" + R, R),
        ("password： Xk9mQ2vL8pz7", "Xk9mQ2vL8pz7"),
        ("密码是 Xk9#mQ2v", "Xk9#mQ2v"),
        ("密码：hunter2", "hunter2"),
        ("测试机密码:20260412", "20260412"),
        ("数据库口令为 Xk9mQ2vL", "Xk9mQ2vL"),
        ("密钥：" + R, R),
        ("令牌是“" + R + "”", R),
        ("postgres://app:pa55w0rdX@db.example.com/main", "pa55w0rdX"),
        ("https://lin:Xk9mQ2vL8pz@example.com/repo.git", "Xk9mQ2vL8pz"),
        ("my password is correcthorse9", "correcthorse9"),
        ("password: correcthorse9, as always", "correcthorse9"),
        ("and the login pass Winter2026!", "Winter2026!"),
        ("AWS key and secret " + R + "/bPxRf", R + "/bPxRf"),
        ("token为 abcdef1234567890", "abcdef1234567890"),
        ("password是hunter22", "hunter22"),
        ("curl -u lin:S3cr3tPass https://example.com", "S3cr3tPass"),
        ("curl --user 'lin:S3cr3tPass' https://example.com", "S3cr3tPass"),
        ("credit card 4242 4242 4242 4242 for the tests", "4242 4242 4242 4242"),
        ("卡号：4242424242424242", "4242424242424242"),
        ("my PIN is 4821", "4821"),
    ],
)
def test_an_assigned_secret_is_refused_and_only_its_value_masked(text: str, value: str) -> None:
    (name,) = names(text)
    assert mask_secrets(text) == text.replace(value, f"[secret: {name}]")


HONEST = [
    "AWS_SECRET_ACCESS_KEY is read from the environment",
    "password hashing uses argon2",
    "password: argon2id with 64 MiB",
    "password_hash: pbkdf2_sha256",
    "password is required and must have 12 characters",
    "密码是 argon2 哈希",
    "密码：bcrypt 存储",
    "密码为空时拒绝登录",
    "密码是用户自己设置的",
    "密钥放在 ~/.ssh 下",
    "密钥：ed25519，轮换一年一次",
    "令牌有效期 3600 秒",
    "token: str",
    "token: Optional[str] = None",
    'token = os.environ["API_TOKEN"]',
    "password = config.database.password",
    "password = getpass.getpass()",
    "password = base64.b16encode(random_bytes[8:])",
    "api_key: ${API_KEY}",
    "api_key: <your key here>",
    "api_key = YOUR_API_KEY",
    "API_KEY=xxxxxxxxxxxxxxxx",
    "secret: k8s-secret-name-v2-production",
    "secret: /run/secrets/db",
    "token: 128256",
    "access_token: accessTokenV2",
    "tokens: 61000 of 200000",
    "The secret is a Kubernetes object",
    "Secrets: see docs/secrets.md",
    "commit 5d0e2c1f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d",
    "550e8400-e29b-41d4-a716-446655440000",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "Zm9vYmFyMTIz decodes to foobar123",
    "id: k3v9x2m7qa",
    "card k3v9x2m7qa supersedes m2c6v0h8wt",
    "sk-fading-circle-with-dots-and-long-name",
    "a task-runner-with-many-words-inside",
    "A PEM file starts with -----BEGIN PRIVATE KEY----- and base64",
    "postgres://postgres:postgres@localhost:5432/app",
    "postgres://user:password@host/db",
    "https://${USER}:${TOKEN}@example.com",
    "http://localhost:8080/path@v2",
    "git@example.com:web/app.git",
    "npm_config_registry and pypi-publish and hf_hub_download",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "ghp_" + "x" * 36,
    "integrity sha512-" + R * 2 + "==",
    "pass the access key by name",
    "--password-file passwords.txt",
    "--token-limit 200000000a1",
    "password is base64-encoded",
    "the password was changed in 2026",
    "tests pass Python3.12",
    "my pass through3 function",
    "the token 5d0e2c1f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d is a commit",
    "chown -u git:git and docker run -u 1000:1000",
    "sk-ant-" + "x" * 40,
    "sk-ant-api03-your-key-goes-here-please",
    "order 4242 4242 4242 4243 of the table",
    "rows 1024 2048 4096 8192",
    "pin 4821 of the board, PIN 12 is ground",
    "pin: 4 digits",
    "token为空时返回 401",
    "secret 是一个 Kubernetes 对象",
]


@pytest.mark.parametrize("text", HONEST)
def test_honest_text_holds_no_secret(text: str) -> None:
    assert find_secrets(text) == []
    assert mask_secrets(text) == text


def test_a_password_for_this_computer_only_warns() -> None:
    (finding,) = scan("redis://app:Xk9mQ2vL8pz@localhost:6379/0")
    assert (finding.severity, finding.name) == ("warning", "local-url-password")


def test_a_finding_never_repeats_the_secret() -> None:
    for _, token in TOKENS:
        for finding in scan("a\nb " + token):
            assert finding.line == 2
            assert token[-12:] not in finding.what + finding.hint


@pytest.mark.parametrize("char", "\u200b\u2060\ufeff\u00ad")
def test_a_character_nobody_sees_hides_no_secret(char: str) -> None:
    token = "ghp_" + R[:9] + char + R[9:] + "abcd"
    assert "github-token" in names("甲 " + token, "source")
    assert mask_secrets("甲 " + token + " 乙") == "甲 [secret: github-token] 乙"


def test_full_width_letters_hide_no_secret() -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if c.isalnum() else c for c in "ghp_" + R + "abcd")
    assert mask_secrets(wide) == "[secret: github-token]"


def test_a_key_cut_off_before_its_end_is_masked_to_its_last_line() -> None:
    cut = "-----BEGIN RSA PRIVATE KEY-----\n" + (R * 2 + "\n") * 3
    assert mask_secrets(f"see\n{cut}and then prose") == "see\n[secret: private-key]and then prose"


words = st.sampled_from(
    [t for _, t in TOKENS]
    + HONEST
    + ["密码是 Xk9#mQ2v", "password: ", "token=", R, "\n", " ", "：", "\u200b", "[secret: jwt]"]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(words, max_size=8), st.sampled_from(["", " ", "\n", "，"]))
def test_what_is_masked_holds_no_secret_any_more(parts: list[str], glue: str) -> None:
    masked = mask_secrets(glue.join(parts))
    assert find_secrets(masked) == []
    assert mask_secrets(masked) == masked


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_secrets_lie_inside_the_text_and_apart(text: str) -> None:
    end = 0
    for secret in find_secrets(text + "密码：hunter2" + text):
        assert end <= secret.start < secret.end
        end = secret.end
