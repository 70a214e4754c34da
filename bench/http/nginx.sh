#!/bin/sh
# httpd-nginx PORT: nginx that answers each request with the same short response.  It runs in a
# temporary directory.
set -eu
PATH=$PATH:/usr/sbin:/usr/local/sbin
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
port=$1
# nginx does not support port 0, so search for a free port.
if [ "$port" = 0 ]; then
    port=18080
    while grep -qi ":$(printf '%04X' "$port") " /proc/net/tcp /proc/net/tcp6 2>/dev/null; do port=$((port + 1)); done
fi
cat >"$folder/nginx.conf" <<END
worker_processes ${HTTPD_WORKERS:-1};
pid $folder/pid;
daemon off;
error_log stderr error;
events { worker_connections 4096; }
http {
    access_log off;
    keepalive_requests 1000000000;
    default_type text/plain;
    client_body_temp_path $folder/a;
    proxy_temp_path $folder/b;
    fastcgi_temp_path $folder/c;
    uwsgi_temp_path $folder/d;
    scgi_temp_path $folder/e;
    server {
        listen 127.0.0.1:$port backlog=1024;
        location / { return 200 'Hello, world!'; }
    }
}
END
nginx -p "$folder" -c "$folder/nginx.conf" &
nginx=$!
trap 'kill $nginx; wait $nginx' TERM
until grep -qi ":$(printf '%04X' "$port") .* 0A " /proc/net/tcp; do
    kill -0 $nginx || exit 1
    sleep 0.01
done
echo "$port"
wait $nginx || true
