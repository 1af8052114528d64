// Writes a Kubernetes label selector as the API server takes it in a query, in the order in which
// Go's libraries do.
import type { Fields } from './fields.ts';

export function readLabelSelector(fields: Fields): string {
  const equal = Object.entries(fields.textMap('matchLabels')).map(
    ([key, value]) => ({ key, text: `${key}=${value}` }) as const,
  );
  const other = fields.objects('matchExpressions').map(readExpression);
  fields.end();
  return [...equal, ...other]
    .toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
    .map(({ text }) => text)
    .join(',');
}

function readExpression(fields: Fields): { readonly key: string; readonly text: string } {
  const key = fields.text('key');
  const operator = fields.oneOf('operator', ['In', 'NotIn', 'Exists', 'DoesNotExist']);
  const values = fields.texts('values').toSorted();
  fields.end();
  const isSet = operator === 'In' || operator === 'NotIn';
  if (isSet !== values.length > 0) {
    throw fields.error('values', `${isSet ? 'must not' : 'must'} be empty for ${operator}`);
  }
  switch (operator) {
    case 'In':
      return { key, text: `${key} in (${values.join(',')})` };
    case 'NotIn':
      return { key, text: `${key} notin (${values.join(',')})` };
    case 'Exists':
      return { key, text: key };
    default:
      return { key, text: `!${key}` };
  }
}
