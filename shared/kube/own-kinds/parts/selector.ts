// Which objects are meant, by their labels: `matchLabels` alone in v1alpha1, a whole selector in
// v1beta1.
import { isRecord } from '../../json.ts';
import type { Fields, Part } from '../part.ts';

export function selector(at: readonly string[], keyOf: (item: Fields) => string): Part {
  return { at, names: ['matchLabels', 'selector'], up, down, keyOf, refit };
}

const up = (fields: Fields): Fields =>
  Object.hasOwn(fields, 'matchLabels') ? { selector: { matchLabels: fields['matchLabels'] } } : {};

function down({ selector: whole }: Fields): Fields {
  return isRecord(whole) && Object.hasOwn(whole, 'matchLabels')
    ? { matchLabels: whole['matchLabels'] }
    : {};
}

/** The expressions stay: they are not seen by those who change labels in v1alpha1. */
function refit({ selector: kept }: Fields, { selector: now }: Fields): Fields | undefined {
  if (!isRecord(kept) || !Object.hasOwn(kept, 'matchExpressions')) return undefined;
  const { matchExpressions } = kept;
  return { selector: { ...(isRecord(now) ? now : {}), matchExpressions } };
}
