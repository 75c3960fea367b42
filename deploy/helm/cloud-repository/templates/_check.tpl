{{/* Fails on values that contradict one another. values.schema.json refuses those that are wrong by themselves. */}}
{{- define "cloud-repository.check" -}}
{{- $values := .Values -}}
{{- $secrets := include "cloud-repository.secretNames" . | fromJsonArray -}}
{{- if and (include "cloud-repository.isEmbedded" .) (or (gt (int $values.replicaCount) 1) $values.autoscaling.enabled) -}}
{{- fail "Several replicas need PostgreSQL and S3: set database.url or the secret DATABASE_URL, and objectStore.bucket. SQLite and local files are for replicaCount: 1 without autoscaling." -}}
{{- end -}}
{{- range $name := $secrets -}}
{{- if and (hasKey $values.secrets $name) (hasKey $values.externalSecrets.settings $name) -}}
{{- fail (printf "%s is in both secrets and externalSecrets.settings. Keep one of them." $name) -}}
{{- end -}}
{{- end -}}
{{- if and $values.database.url (has "DATABASE_URL" $secrets) -}}
{{- fail "Both database.url and a secret DATABASE_URL are set. Keep one of them." -}}
{{- end -}}
{{- if and $values.adminApi.enabled (not (has "ADMIN_TOKEN" $secrets)) -}}
{{- fail "adminApi.enabled needs ADMIN_TOKEN in secrets or externalSecrets.settings." -}}
{{- end -}}
{{- if ne (has "AWS_ACCESS_KEY_ID" $secrets) (has "AWS_SECRET_ACCESS_KEY" $secrets) -}}
{{- fail "Set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in secrets or externalSecrets.settings, or none." -}}
{{- end -}}
{{- if and $values.caCertificates.secret $values.caCertificates.configMap -}}
{{- fail "Set caCertificates.secret or caCertificates.configMap, not both." -}}
{{- end -}}
{{- if and $values.pageLogo.configMap (hasKey $values.config "PAGE_LOGO") -}}
{{- fail "Set pageLogo.configMap or config.PAGE_LOGO, not both." -}}
{{- end -}}
{{- if gt (int $values.autoscaling.minReplicas) (int $values.autoscaling.maxReplicas) -}}
{{- fail "autoscaling.minReplicas must not exceed autoscaling.maxReplicas." -}}
{{- end -}}
{{- if and $values.metrics.serviceMonitor.enabled (not $values.metrics.enabled) -}}
{{- fail "metrics.serviceMonitor.enabled needs metrics.enabled." -}}
{{- end -}}
{{- $own := keys (include "cloud-repository.settings" . | fromJson) -}}
{{- range $values.extraEnv -}}
{{- if has .name $own -}}
{{- fail (printf "extraEnv has %s, which the chart sets." .name) -}}
{{- end -}}
{{- end -}}
{{- end }}
