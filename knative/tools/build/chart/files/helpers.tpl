{{/* The image of a function: include "ballast.image" (list . "metadata") */}}
{{- define "ballast.image" -}}
{{- $name := index . 1 -}}
{{- $images := (index . 0).Values.images -}}
{{- $tag := $images.tag | default (index . 0).Chart.AppVersion -}}
{{- with index $images.digests $name -}}
{{- printf "%s/%s@%s" $images.repository $name . -}}
{{- else -}}
{{- printf "%s/%s:%s" $images.repository $name $tag -}}
{{- end -}}
{{- end -}}

{{/* A list of texts, as the language of policies writes it. */}}
{{- define "ballast.list" -}}
[{{ range $index, $text := . }}{{ if $index }}, {{ end }}'{{ $text }}'{{ end }}]
{{- end -}}

{{/* The name ends in the hash that kustomize gives it, of no name: other settings, another ConfigMap. */}}
{{- define "ballast.settings.name" -}}
{{- $json := printf `{"data":%s,"kind":"ConfigMap","name":""}` (include "ballast.settings.data" .) -}}
{{- $hash := $json | sha256sum | trunc 10 -}}
{{- printf "ballast-settings-%s" ($hash | replace "0" "g" | replace "1" "h" | replace "3" "k" | replace "a" "m" | replace "e" "t") -}}
{{- end -}}
