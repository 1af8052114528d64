// Marks: texts that go through kustomize as they are, and become expressions of a template where
// the rendered objects are written down. Pure.

const MARK = /\bchart-mark-([0-9a-f]+)-end\b/g;
const ITEM = /^( *)- chart-mark-([0-9a-f]+)-end$/;

interface Marked {
  readonly expression: string;
  /** The mark is an item of a list: there is one of these for each value of the expression. */
  readonly item?: string;
}

/** For a whole value: what the expression prints is YAML. */
export const expressed = (expression: string): string => mark({ expression });

/** For an item of a list: `item` is a template, in which the dot is one value. */
export const listed = (expression: string, item: string): string => mark({ expression, item });

const mark = (marked: Marked): string =>
  `chart-mark-${Buffer.from(JSON.stringify(marked)).toString('hex')}-end`;

function markedBy(hex: string): Marked {
  const marked: Marked = JSON.parse(Buffer.from(hex, 'hex').toString());
  return marked;
}

/** `yaml` with what each mark stands for. Text that Helm would take for a template stays text. */
export const asTemplate = (yaml: string): string =>
  yaml.replaceAll('{{', '{{ "{{" }}').split('\n').map(lineOf).join('\n');

function lineOf(line: string): string {
  const [, indent = '', hex = ''] = ITEM.exec(line) ?? [];
  const { expression, item } = hex === '' ? { expression: '' } : markedBy(hex);
  if (item === undefined) {
    return line.replaceAll(MARK, (_, one: string) => `{{ ${markedBy(one).expression} }}`);
  }
  const around = [`{{- range ${expression} }}`, `- ${item}`, '{{- end }}'];
  return around.map((part) => `${indent}${part}`).join('\n');
}
