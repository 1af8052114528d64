// Versions are read out of what real binaries print, and judged by what fits.
import { describe, expect, test } from 'vitest';
import { partEntry } from '../../../knative/try/local/parts/catalog.ts';
import {
  fits,
  isGoAtLeast,
  versionIn,
  whatFits,
} from '../../../knative/try/local/parts/version.ts';

test.each([
  ['etcd Version: 3.6.16\nGit SHA: Not provided\nGo Version: go1.26.8', 'v3.6.16'],
  ['Kubernetes v1.36.3', 'v1.36.3'],
  ['Client Version: v1.32.4-dispatcher\nKustomize Version: v5.5.0', 'v1.32.4-dispatcher'],
  ['nats-server: v2.15.2', 'v2.15.2'],
  ['kwok version v0.8.0 go1.26.8 (linux/amd64)', 'v0.8.0'],
  ['usage: something else', undefined],
])('from the output %j the version %s is read', (output, version) => {
  expect(versionIn(output)).toBe(version);
});

describe('what stands in for the pinned version', () => {
  test.each([
    ['etcd', 'v3.6.0', true],
    ['etcd', 'v3.5.21', false],
    ['etcd', 'v4.6.8', false],
    ['kube-apiserver', 'v1.36.9', true],
    ['kube-apiserver', 'v1.35.3', false],
    ['kubectl', 'v1.35.0', true],
    ['kubectl', 'v1.37.0', true],
    ['kubectl', 'v1.34.9', false],
    ['kubectl', 'v1.38.0', false],
  ] as const)('%s %s: %s', (name, version, expected) => {
    expect(fits(partEntry(name), version)).toBe(expected);
  });

  test('is told to people as a range', () => {
    expect(whatFits(partEntry('etcd'))).toBe('v3.6');
    expect(whatFits(partEntry('kubectl'))).toBe('v1.35 to v1.37');
  });
});

test.each([
  ['go1.26.8', true],
  ['go1.26', true],
  ['go1.27rc1', true],
  ['go2.0', true],
  ['devel go1.27-abcdef', true],
  ['go1.25.9', false],
  ['go1.9', false],
  ['', false],
])('Go %j is new enough: %s', (version, expected) => {
  expect(isGoAtLeast(version, '1.26')).toBe(expected);
});
