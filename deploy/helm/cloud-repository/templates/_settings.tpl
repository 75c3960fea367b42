{{/* Names of the settings that come from Secrets, as a list. */}}
{{- define "cloud-repository.secretNames" -}}
{{ concat (keys .Values.secrets) (keys .Values.externalSecrets.settings) | sortAlpha | toJson }}
{{- end }}

{{/* Those of them that are mounted as files. The PostgreSQL driver reads PGPASSWORD, and knows no PGPASSWORD_FILE. */}}
{{- define "cloud-repository.fileNames" -}}
{{ without (include "cloud-repository.secretNames" . | fromJsonArray) "PGPASSWORD" | toJson }}
{{- end }}

{{/* "true", or empty: whether the database is PostgreSQL. */}}
{{- define "cloud-repository.onPostgres" -}}
{{- if or .Values.database.url (has "DATABASE_URL" (include "cloud-repository.secretNames" . | fromJsonArray)) }}true{{ end }}
{{- end }}

{{/* "true", or empty: whether the volume holds the database or the files. */}}
{{- define "cloud-repository.isEmbedded" -}}
{{- if not (and (include "cloud-repository.onPostgres" .) .Values.objectStore.bucket) }}true{{ end }}
{{- end }}

{{/* The settings that are no secrets, as a map of NAME to text. */}}
{{- define "cloud-repository.settings" -}}
{{- $settings := dict "HOST" "0.0.0.0" "PORT" "3000" -}}
{{- with .Values.database.url }}{{ $_ := set $settings "DATABASE_URL" . }}{{ end -}}
{{- with .Values.objectStore -}}
{{- if .bucket }}{{ $_ := set $settings "OBJECT_STORE" (printf "s3://%s" .bucket) }}{{ end -}}
{{- if .endpoint }}{{ $_ := set $settings "AWS_ENDPOINT_URL_S3" .endpoint }}{{ end -}}
{{- if .region }}{{ $_ := set $settings "AWS_REGION" .region }}{{ end -}}
{{- end -}}
{{- if .Values.basePath }}{{ $_ := set $settings "BASE_PATH" .Values.basePath }}{{ end -}}
{{- if .Values.trustProxy }}{{ $_ := set $settings "TRUST_PROXY" (join "," .Values.trustProxy) }}{{ end -}}
{{/* Not the volume itself: the service closes its folder to others, and the group of the volume must keep its access. */ -}}
{{- if include "cloud-repository.isEmbedded" . }}{{ $_ := set $settings "DATA_DIR" "/data/repository" }}{{ end -}}
{{- if .Values.adminApi.enabled -}}
{{- $_ := set $settings "ADMIN_HOST" "0.0.0.0" -}}
{{- $_ := set $settings "ADMIN_PORT" "3001" -}}
{{- end -}}
{{- if .Values.metrics.enabled -}}
{{- $_ := set $settings "METRICS_HOST" "0.0.0.0" -}}
{{- $_ := set $settings "METRICS_PORT" "9091" -}}
{{- end -}}
{{- if .Values.pageLogo.configMap }}{{ $_ := set $settings "PAGE_LOGO" (printf "/run/logo/%s" .Values.pageLogo.key) }}{{ end -}}
{{- range $name, $value := .Values.config -}}
{{/* YAML's numbers arrive as floating point, and large ones would be written with an exponent. */ -}}
{{- $isWhole := and (kindIs "float64" $value) (eq (floor $value) $value) -}}
{{- $_ := set $settings $name ($isWhole | ternary (printf "%.0f" $value) (toString $value)) -}}
{{- end -}}
{{ $settings | toJson }}
{{- end }}
