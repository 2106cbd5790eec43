#!/bin/sh
# Makes the secrets of compose.yaml and gateway.env, once. The folder is closed to others; the files are readable, because
# containers mount them as they are, and read them as users of their own.
set -eu
cd "$(dirname "$0")"
[ ! -e secrets ] || { echo "deploy/secrets exists: nothing is changed" >&2; exit 1; }
umask 077
mkdir secrets
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
password=$(random)
printf %s "$password" >secrets/postgres_password
printf %s "postgres://gateway:$password@postgres:5432/gateway" >secrets/database_url
printf %s "$(random)" >secrets/admin_token
printf %s "$(random)" >secrets/store_key
chmod 444 secrets/*
[ -e gateway.env ] || cat >gateway.env <<'END'
# Settings of the gateways of compose.yaml. They reply from recorded fixtures until this line is replaced by a
# vendor's key, such as VENDORA_API_KEY=…
GATEWAY_UPSTREAM=replay
END
