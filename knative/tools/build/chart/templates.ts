// The templates of the chart: for each function a file with its objects, which a value leaves out,
// and files for what is always there. Pure.
import { stringify } from 'yaml';
import { imageIn, isSettings, marked } from './marked.ts';
import { asTemplate } from './marks.ts';
import { isAdded, objectOf, type Variant } from './variants.ts';

/** The Broker names it, so it cannot be left out. */
export const NEEDED_FUNCTION = 'dead-letters';

/** By their path in the chart. */
export function templatesOf(
  variants: readonly Variant[],
  functions: readonly string[],
): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const variant of variants) {
    const file = fileOf(variant, functions);
    files.set(file, (files.get(file) ?? '') + textOf(variant));
  }
  return new Map(
    [...files].map(([file, text]) => {
      const isChosen = functions.includes(file) && file !== NEEDED_FUNCTION;
      const condition = `{{- if index .Values.functions "${file}" }}\n`;
      const whole = isChosen ? `${condition}${text}{{- end }}\n` : text;
      return [`templates/${file}.yaml`, whole] as const;
    }),
  );
}

function fileOf(variant: Variant, functions: readonly string[]): string {
  const object = objectOf(variant);
  const name = Object(object.metadata['labels'])['app.kubernetes.io/name'];
  // Kinds stay where their function is left out.
  if (object.kind === 'CustomResourceDefinition') {
    return `crds/${object.metadata.name.split('.')[0]}`;
  }
  if (functions.includes(name)) return name;
  if (isSettings(object)) return 'settings';
  return isAdded(variant) ? 'components' : 'base';
}

function textOf(variant: Variant): string {
  if (!('by' in variant)) {
    if (variant.object === undefined) return '';
    // As Go reads it, for which `yes` is no text.
    const yaml = stringify(marked(variant.object), { version: '1.1', lineWidth: 0 });
    return `---\n${asTemplate(yaml)}`;
  }
  const on = textOf(variant.on);
  const off = textOf(variant.off);
  const otherwise = off === '' ? '' : `{{- else }}\n${off}`;
  return `{{- if ${variant.by.when} }}\n${on}${otherwise}{{- end }}\n`;
}

interface Setting {
  readonly name: string;
  readonly value: string;
}

/** Defines the data of the settings, as JSON: the values, and images that follow from them. */
export function settingsTemplate(settings: readonly Setting[]): string {
  const images = settings.flatMap(({ name, value }) => {
    const image = imageIn(value);
    const text = `(include "ballast.image" (list . "${image}"))`;
    return image === undefined ? [] : [`{{- $_ := set $data "${name}" ${text} -}}\n`];
  });
  return `
{{- define "ballast.settings.data" -}}
{{- $data := dict -}}
{{- range $name, $value := .Values.settings }}{{ $_ := set $data $name $value }}{{ end -}}
${images.join('')}{{- toJson $data -}}
{{- end -}}
`;
}
