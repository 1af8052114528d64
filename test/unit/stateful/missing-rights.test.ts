// Rights that lack are told with the command that grants them; other refusals are told as they
// are.
import { expect, test } from 'vitest';
import { errorFromAnswer } from '../../../shared/kube/errors.ts';
import { policyRefusalOf, rightsMissing } from '../../../shared/stateful/missing-rights.ts';
import { NETWORK_POLICIES } from '../../../shared/stateful/parts.ts';

const DATABASE = {
  kind: 'Database',
  namespace: 'shop',
  name: 'db',
  functionName: 'database',
  exposed: 'the pages',
};
const COMMAND = 'npm run -s rights -- database -n shop | kubectl apply -f -';
const NO_RIGHT =
  'networkpolicies.networking.k8s.io is forbidden: User "x" cannot get resource ' +
  '"networkpolicies" in API group "networking.k8s.io" in the namespace "shop"';

const REASONS: Readonly<Record<number, string>> = { 403: 'Forbidden', 422: 'Invalid' };

const answer = (statusCode: number, message: string) => {
  const reason = REASONS[statusCode] ?? 'InternalError';
  const about = { verb: 'get', ref: NETWORK_POLICIES } as const;
  return errorFromAnswer(about, { statusCode, reason, message, causes: [] });
};

test('a right that lacks is told with the object and with the command that grants it', () => {
  const reason = rightsMissing(DATABASE, answer(403, NO_RIGHT));
  expect(reason?.reason).toBe('RightsMissing');
  expect(reason?.message).toContain(`may not look after Database shop/db (${NO_RIGHT})`);
  expect(reason?.message).toContain('Its servers go on, and nobody looks after them. Grant it');
  expect(reason?.message).toContain(COMMAND);
});

test('what has no servers says in its own words how it is meanwhile', () => {
  const copy = { ...DATABASE, kind: 'Copy', unattended: 'No copy is made.' };
  const { message } = rightsMissing(copy, answer(403, NO_RIGHT)) ?? {};
  expect(message).toContain('No copy is made. Grant it its rights there');
  expect(message).not.toContain('servers');
});

test.each([
  ['a quota', answer(403, 'exceeded quota: pods')],
  ['an invalid object', answer(422, NO_RIGHT)],
  ['another failure', new Error(NO_RIGHT)],
])('%s is no lack of rights', (_, error) => {
  expect(rightsMissing(DATABASE, error)).toBeUndefined();
});

test.each([
  [NO_RIGHT, 403, 'RightsMissing', `Grant it its rights there: ${COMMAND}, or set`],
  ['no policies here', 403, 'NetworkPolicyRefused', 'Let it be made, or set'],
  ['ports: Invalid value', 422, 'NetworkPolicyRefused', 'Let it be made, or set'],
])('a NetworkPolicy refused with "%s" (%d)', (message, status, reason, wish) => {
  const refusal = policyRefusalOf(DATABASE, answer(status, message));
  expect(refusal?.reason).toBe(reason);
  expect(refusal?.message).toContain(`NetworkPolicy shop/db cannot be made (${message})`);
  expect(refusal?.message).toContain('reaches the pages of the servers');
  expect(refusal?.message).toContain(wish);
});

test('a NetworkPolicy that could not be read for another reason is a failure', () => {
  expect(policyRefusalOf(DATABASE, answer(500, 'no'))).toBeUndefined();
});
