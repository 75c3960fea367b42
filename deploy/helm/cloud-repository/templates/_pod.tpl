{{/* What the service and a migration have in common: the members of a pod's spec. */}}
{{- define "cloud-repository.podSpec" -}}
serviceAccountName: {{ include "cloud-repository.serviceAccount" . }}
automountServiceAccountToken: false
# Otherwise a Service named "metrics" in the namespace would set METRICS_PORT.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* The same of a container. */}}
{{- define "cloud-repository.container" -}}
image: {{ include "cloud-repository.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
env:
  {{- include "cloud-repository.env" . | trim | nindent 2 }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
volumeMounts:
  - name: tmp
    mountPath: /tmp
  - name: data
    mountPath: /data
  {{- if include "cloud-repository.fileNames" . | fromJsonArray }}
  - name: secrets
    mountPath: /run/secrets/cloud-repository
    readOnly: true
  {{- end }}
  {{- if include "cloud-repository.hasCertificates" . }}
  - name: certificates
    mountPath: /run/certificates
    readOnly: true
  {{- end }}
  {{- if .Values.pageLogo.configMap }}
  - name: logo
    mountPath: /run/logo
    readOnly: true
  {{- end }}
{{- end }}

{{- define "cloud-repository.env" -}}
{{- range $name, $value := include "cloud-repository.settings" . | fromJson }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- range $name := include "cloud-repository.secretNames" . | fromJsonArray }}
{{- if eq $name "PGPASSWORD" }}
- name: PGPASSWORD
  valueFrom:
    secretKeyRef:
      {{- include "cloud-repository.secretKey" (list $ $name) | nindent 6 }}
{{- else }}
- name: {{ $name }}_FILE
  value: /run/secrets/cloud-repository/{{ $name }}
{{- end }}
{{- end }}
{{- if include "cloud-repository.hasCertificates" . }}
- name: NODE_EXTRA_CA_CERTS
  value: /run/certificates/{{ .Values.caCertificates.key }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Where the value of a setting is: `name` and `key` of a Secret. */}}
{{- define "cloud-repository.secretKey" -}}
{{- $root := index . 0 -}}
{{- $setting := index . 1 -}}
{{- with get $root.Values.secrets $setting -}}
name: {{ .name }}
key: {{ .key }}
{{- else -}}
name: {{ include "cloud-repository.fullname" $root }}
key: {{ $setting }}
{{- end }}
{{- end }}

{{/* `data` is the volume of the service; a migration has none. */}}
{{- define "cloud-repository.commonVolumes" -}}
- name: tmp
  emptyDir: {}
{{- with include "cloud-repository.fileNames" . | fromJsonArray }}
- name: secrets
  projected:
    # The group is that of fsGroup.
    defaultMode: 0440
    sources:
      {{- range $setting := . }}
      {{- $from := include "cloud-repository.secretKey" (list $ $setting) | fromYaml }}
      - secret:
          name: {{ $from.name }}
          items:
            - key: {{ $from.key }}
              path: {{ $setting }}
      {{- end }}
{{- end }}
{{- if include "cloud-repository.hasCertificates" . }}
- name: certificates
  {{- if .Values.caCertificates.secret }}
  secret:
    secretName: {{ .Values.caCertificates.secret }}
  {{- else }}
  configMap:
    name: {{ .Values.caCertificates.configMap }}
  {{- end }}
    items:
      - key: {{ .Values.caCertificates.key }}
        path: {{ .Values.caCertificates.key }}
{{- end }}
{{- with .Values.pageLogo }}
{{- if .configMap }}
- name: logo
  configMap:
    name: {{ .configMap }}
    items:
      - key: {{ .key }}
        path: {{ .key }}
{{- end }}
{{- end }}
{{- end }}

{{- define "cloud-repository.hasCertificates" -}}
{{- if or .Values.caCertificates.secret .Values.caCertificates.configMap }}true{{ end }}
{{- end }}
