#!/usr/bin/env bash
# Regenerates the certificates of the TLS tests. They are valid for a century, except `expired`, which ended in 2021.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/$1.key" -out "$1.pem" \
    -days 36500 -subj "/CN=$2" -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign
}
leaf() { # name, authority, alternative names, first day, last day, usage
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$work/$1.csr" -subj "/CN=$1"
  printf 'basicConstraints=critical,CA:FALSE\nextendedKeyUsage=%s\nsubjectAltName=%s\n' "${6:-serverAuth}" "$3" >"$work/$1.ext"
  mkdir -p "$work/db" && : >"$work/db/index" && : >"$work/db/index.attr" && openssl rand -hex 16 >"$work/db/serial"
  printf '[ca]\ndefault_ca=d\n[d]\ndatabase=%s\nserial=%s\nnew_certs_dir=%s\npolicy=p\n[p]\ncommonName=supplied\n' \
    "$work/db/index" "$work/db/serial" "$work/db" >"$work/ca.cnf"
  openssl ca -batch -notext -config "$work/ca.cnf" -md sha256 -cert "$2.pem" -keyfile "$work/$2.key" \
    -in "$work/$1.csr" -out "$1.pem" -extfile "$work/$1.ext" -startdate "$4" -enddate "$5"
}
authority authority "Test authority"
authority stranger "Unknown authority"
own=DNS:localhost,DNS:upstream.test,IP:127.0.0.1,IP:::1
leaf right authority "$own" 20260101000000Z 21251231000000Z
leaf wrong_name authority DNS:elsewhere.test 20260101000000Z 21251231000000Z
leaf expired authority "$own" 20200101000000Z 20210101000000Z
leaf unknown stranger "$own" 20260101000000Z 21251231000000Z
leaf issuers authority DNS:login.microsoftonline.com,DNS:graph.microsoft.com,DNS:accounts.google.com,DNS:example.okta.com,DNS:keycloak.example.com 20260101000000Z 21251231000000Z
leaf client authority DNS:client.test 20260101000000Z 21251231000000Z clientAuth
rm -r "$work" stranger.pem
