{{- define "cloud-repository.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* At most 51 characters, so that 63 are enough with each suffix. */}}
{{- define "cloud-repository.fullname" -}}
{{- $name := include "cloud-repository.name" . -}}
{{- $full := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{ .Values.fullnameOverride | default $full | trunc 51 | trimSuffix "-" }}
{{- end }}

{{- define "cloud-repository.serviceAccount" -}}
{{- $own := .Values.serviceAccount.create | ternary (include "cloud-repository.fullname" .) "default" -}}
{{ .Values.serviceAccount.name | default $own }}
{{- end }}

{{/* Of all pods of the release. */}}
{{- define "cloud-repository.releaseLabels" -}}
app.kubernetes.io/name: {{ include "cloud-repository.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Of the pods that serve, so not of a migration. A Deployment cannot change its selector. */}}
{{- define "cloud-repository.selector" -}}
{{ include "cloud-repository.releaseLabels" . }}
app.kubernetes.io/component: service
{{- end }}

{{- define "cloud-repository.labels" -}}
{{ include "cloud-repository.releaseLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "cloud-repository.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}
