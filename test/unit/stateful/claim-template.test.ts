// The access mode of claims: the spec may say one, and what is there already decides before it.
import { expect, test } from 'vitest';
import type { AccessMode } from '../../../shared/api/servers.ts';
import { accessModeOf, storageIn } from '../../../shared/stateful/claim-template.ts';

const POD = 'ReadWriteOncePod';
const NODE = 'ReadWriteOnce';

const statefulSet = (accessMode: AccessMode) => {
  const resources = { requests: { storage: '10Gi' } };
  return { spec: { volumeClaimTemplates: [{ spec: { accessModes: [accessMode], resources } }] } };
};

test.each<[string, AccessMode | undefined, AccessMode | undefined, AccessMode[], AccessMode]>([
  ['nothing is said and nothing is there', undefined, undefined, [], POD],
  ['the spec says it', NODE, undefined, [], NODE],
  ['the StatefulSet was made before there was a choice', undefined, NODE, [NODE], NODE],
  ['that StatefulSet is being made anew', undefined, undefined, [NODE], NODE],
  ['somebody changed a claim below a StatefulSet', undefined, POD, [NODE], POD],
])('the access mode when %s', (_, said, template, claims, mode) => {
  const present = template === undefined ? undefined : statefulSet(template);
  const found = claims.map((accessMode) => ({ accessMode }));
  expect(accessModeOf(said, present, found)).toBe(mode);
});

test('the size is that of the template, and a StatefulSet in memory has none', () => {
  expect(storageIn(statefulSet(POD))).toBe('10Gi');
  expect(storageIn({ spec: {} })).toBeUndefined();
});
