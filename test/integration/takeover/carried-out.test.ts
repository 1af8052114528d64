// A confirmed plan on a real etcd 3.3.27 in bare pods is carried out and rolled back, with a writer
// that keeps its connection. Over TLS clients go on with the certificates and the authority that
// they had.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { NONE } from '../manifests/misfits.ts';
import { coreosSide } from './old-side.ts';
import {
  expectCarriedOut,
  expectNoErrors,
  type RestoreScene,
  expectRolledBackAmid,
  startScene,
  stopScene,
} from './restore-scene.ts';

const LONG_MS = 600_000;

let scene: RestoreScene;

function around(isSecret: boolean): void {
  beforeAll(async () => {
    scene = await startScene(coreosSide(isSecret));
  }, LONG_MS);

  afterAll(() => scene && stopScene(scene));

  afterEach(() => expectNoErrors(scene));
}

describe('without TLS', () => {
  around(false);
  test('carried out, no acknowledged write is lost', { timeout: LONG_MS }, () =>
    expectCarriedOut(scene),
  );
});

describe('over TLS', () => {
  around(true);
  test('rolled back from amid, the old cluster serves as before', { timeout: LONG_MS }, () =>
    expectRolledBackAmid(scene),
  );
  test('carried out, no acknowledged write is lost', { timeout: LONG_MS }, async () => {
    await expectCarriedOut(scene);
    // There and back each right was used, and none was missing.
    expect(await scene.place.misfits()).toEqual(NONE);
  });
});
