// The account of `takeover` in the wrong hands, where a person granted it these rights: the API
// server says what it lets through.
import { afterAll, beforeAll } from 'vitest';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { type Attempt, type Outcome, StolenAccount } from './accounts-at-work.ts';
import { Installed } from './installed.ts';

interface StolenTakeover {
  /** Somebody who may do all. */
  readonly admin: () => KubeClient;
  /** It is done where it is let through. */
  readonly attempt: (attempt: Attempt) => Promise<Outcome>;
  /** These change nothing, also where they are let through. */
  readonly post: (path: string, body: object) => Promise<Outcome>;
  readonly patch: (path: string, body: object) => Promise<Outcome>;
  readonly remove: (path: string) => Promise<Outcome>;
}

/** For one file; a `beforeAll` of that comes after. */
export function stealTakeover(rights: readonly Manifest[]): StolenTakeover {
  let installed: Installed;
  let stolen: StolenAccount;

  beforeAll(async () => {
    installed = await Installed.open();
    const { kube, plane } = installed;
    await applyObjects(
      kube,
      rights.map((object) => ({ file: 'npm run rights', object })),
    );
    stolen = await StolenAccount.of(plane, kube, 'takeover');
  });

  afterAll(async () => {
    await installed?.stop();
  });

  return {
    admin: () => installed.kube,
    attempt: (attempt) => stolen.try(attempt),
    post: (path, body) => stolen.dryRun('POST', path, body),
    patch: (path, body) => stolen.dryRun('PATCH', path, body),
    remove: (path) => stolen.dryRun('DELETE', path),
  };
}
