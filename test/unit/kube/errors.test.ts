// Answers of the API server, as codes, sentences and rules.
import { describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../../shared/errors.ts';
import { errorFromAnswer, isKubeError, readStatus } from '../../../shared/kube/errors.ts';
import type { AboutResource } from '../../../shared/kube/request.ts';

const about: AboutResource = {
  verb: 'patch',
  ref: { group: 'apps', version: 'v1', resource: 'deployments' },
  namespace: 'web',
  name: 'front',
  subresource: 'status',
};
const status = (fields: object): string => JSON.stringify({ kind: 'Status', ...fields });

describe('codes', () => {
  const rows: readonly [number, string, ErrorCode][] = [
    [400, 'BadRequest', 'KUBE_BAD_REQUEST'],
    [401, 'Unauthorized', 'KUBE_UNAUTHORIZED'],
    [403, 'Forbidden', 'KUBE_FORBIDDEN'],
    [404, 'NotFound', 'KUBE_NOT_FOUND'],
    [409, 'Conflict', 'KUBE_CONFLICT'],
    [409, 'AlreadyExists', 'KUBE_ALREADY_EXISTS'],
    [410, 'Expired', 'KUBE_EXPIRED'],
    [415, 'UnsupportedMediaType', 'KUBE_BAD_REQUEST'],
    [422, 'Invalid', 'KUBE_INVALID'],
    [429, 'TooManyRequests', 'KUBE_THROTTLED'],
    [500, 'InternalError', 'KUBE_UNAVAILABLE'],
    [503, 'ServiceUnavailable', 'KUBE_UNAVAILABLE'],
    [504, 'Timeout', 'KUBE_TIMEOUT'],
  ];
  test.each(rows)('%i %s is %s', (statusCode, reason, code) => {
    const error = errorFromAnswer(about, readStatus(statusCode, status({ reason, message: 'm' })));
    expect(isKubeError(error, code)).toBe(true);
    expect(error.message).toContain('patch deployments.apps/status web/front');
    expect(error.object).toBe('deployments.apps/status web/front');
  });
});

describe('what a 403 says to do', () => {
  const sentence = (message: string): string =>
    errorFromAnswer(about, readStatus(403, status({ reason: 'Forbidden', message }))).message;

  test('names the rule for one object', () => {
    const message =
      'deployments.apps "front" is forbidden: User "f" cannot patch resource ' +
      '"deployments/status" in API group "apps" in the namespace "web"';
    expect(sentence(message)).toContain(
      'A Role in namespace web needs the rule {apiGroups: ["apps"], ' +
        'resources: ["deployments/status"], verbs: ["patch"], resourceNames: ["front"]}.',
    );
  });

  test('an apply that would create is refused for create, which knows no names', () => {
    const message =
      'deployments.apps "front" is forbidden: User "f" cannot create resource ' +
      '"deployments" in API group "apps" in the namespace "web"';
    expect(sentence(message)).toContain(
      'needs the rule {apiGroups: ["apps"], resources: ["deployments"], verbs: ["create"]}.',
    );
  });

  test('a path has a rule of its own', () => {
    expect(sentence('forbidden: User "f" cannot get path "/metrics"')).toContain(
      'A ClusterRole needs the rule {nonResourceURLs: ["/metrics"], verbs: ["get"]}.',
    );
  });

  test('a quota is not taken for a missing rule', () => {
    const said = sentence('pods "a" is forbidden: exceeded quota: small, requested: pods=1');
    expect(said).toContain('a quota, an admission webhook or a policy');
    expect(said).not.toContain('apiGroups');
  });
});

test('the fields of an invalid object are kept, and the first is named', () => {
  const causes = [
    { field: 'spec.replicas', reason: 'FieldValueInvalid', message: 'must not be negative' },
    { field: 'spec.selector', reason: 'FieldValueRequired', message: 'Required value' },
  ];
  const answer = readStatus(422, status({ reason: 'Invalid', message: 'm', details: { causes } }));
  const error = errorFromAnswer(about, answer);
  expect(error.field).toBe('spec.replicas');
  expect(error.answer?.causes).toEqual(causes);
});

test('the page of a proxy is shown, shortened, and the wait it asks for is kept', () => {
  const answer = readStatus(503, `<html>${'x'.repeat(5_000)}`, 2_000);
  const error = errorFromAnswer(about, answer);
  expect(error.code).toBe('KUBE_UNAVAILABLE');
  expect(error.message).toContain('<html>');
  expect(error.message.length).toBeLessThan(600);
  expect(error.retryAfterMs).toBe(2_000);
});

test('the wait may stand in the body alone', () => {
  const text = status({ reason: 'TooManyRequests', details: { retryAfterSeconds: 3 } });
  expect(readStatus(429, text).retryAfterMs).toBe(3_000);
});

test('a refusal that quotes 300 KB, field by field, is cut before anybody quotes it', () => {
  const long = 'ä'.repeat(150_000);
  const shorter = long.slice(0, 1_000);
  const cause = { field: `spec.${shorter}`, reason: shorter, message: shorter };
  const causes = Array.from({ length: 300 }, () => cause);
  const text = status({ reason: long, message: `denied: ${long}`, details: { causes } });
  const error = errorFromAnswer(about, readStatus(422, text));
  expect(error.message).toContain('It said: denied: ä');
  expect(Buffer.byteLength(error.message)).toBeLessThan(2_500);
  expect(Buffer.byteLength(error.field ?? '')).toBeLessThan(600);
  expect(Buffer.byteLength(JSON.stringify(error.answer))).toBeLessThan(200_000);
});
