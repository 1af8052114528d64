// Moves stored objects to the version that the API server stores now, and takes the other versions
// off the CRD's list only once it is proved that nothing is stored in them. Wakes on changes of
// StorageMigrations and CRDs, and on the sweep's tick. Its memory is the status of the migration:
// two instances at once, lost events and a killed process cost time, never a wrong trim.
//
// The files, in the order of a reconcile:
//   reconciler             the entry: reconciles a migration step by step until time is over
//   migration              a StorageMigration as read
//   worker-lease           which instance works on it: only that one walks over objects
//   observe                the target: kind, stored version and CRD, as the API server has them
//   decide                 the next step
//   steps                  applies it; step-context has what every step gets
//   status, write-status   the next status, every transition between phases; the write
//   gauges                 metrics of what the status says
// the steps, in the order of the phases:
//   preflight              reasons not to begin: rights, lost fields, refused samples; allowed
//   role-end               makes the migration the owner of the role with its rights; owner
//   field-loss, round-trip fields that a schema or a webhook would drop; schema-loss
//   await-storage-version  until every API server stores the version; late-writes
//   delegate               hands the pass over to another migrator, and follows it; migrator
//   pass                   one walk over all objects; pace, outage
//   rewrite, clean         writes one object; removes stale managedFields (cleaning, stale-fields)
//   probe                  whether an object that failed can be written by now
//   confirm                a second pass or etcd agrees (etcd-oracle, etcd-verdict)
//   stored-versions        trims storedVersions of the CRD
import { STORAGE_MIGRATION_LEASE } from '../../shared/api/storage-migration.ts';
import { etcdIn } from '../../shared/etcd/client.ts';
import { defineFunction } from '../../shared/function/define.ts';
import { ETCD_CONFIG, etcdConflicts } from '../../shared/function/etcd-config.ts';
import { KUBECONFIG } from '../../shared/function/kube-config.ts';
import { secondsAsMs } from '../../shared/function/parsers.ts';
import { CHANGES, SWEEP } from '../../shared/function/sources.ts';
import { SWEEP_CONFIG } from '../../shared/function/sweep-config.ts';
import { openKube } from '../../shared/kube/client.ts';
import { readJson } from '../../shared/kube/read-json.ts';
import { SERVERNAME } from '../../shared/kube/servers.ts';
import { Deps } from './deps.ts';
import { FIELD_MANAGER } from './field-manager.ts';

/** As many writes as a migration may have under way, and one for reads beside them. */
const CONNECTIONS_MAX = 33;

export const storageMigration = defineFunction({
  name: 'storage-migration',
  purpose: 'Moves stored objects to the current version, and trims storedVersions on proof.',
  wakesOn: [...CHANGES, SWEEP],
  config: {
    kubeconfigPath: KUBECONFIG,
    workMs: {
      env: 'WORK_SECONDS',
      meaning: 'how long one request works on before it leaves the rest to the next',
      parse: secondsAsMs(0.05, 300),
      // Below the deadline of a request by more than a page takes.
      fallback: 15_000,
    },
    settleMs: {
      env: 'SETTLE_SECONDS',
      meaning: 'how long API servers have to announce a stored version before it is relied on',
      parse: secondsAsMs(0, 300),
      // An API server writes the old version for some milliseconds after it announces the new one.
      fallback: 3_000,
    },
    longestWriteMs: {
      env: 'LONGEST_WRITE_SECONDS',
      meaning: 'how long API servers let a write take: their --request-timeout',
      parse: secondsAsMs(0, 3_600),
      // Theirs, when nobody set it.
      fallback: 60_000,
    },
    ...ETCD_CONFIG,
    ...SWEEP_CONFIG,
  },
  conflicts: (config, runtime) => [...timeConflicts(config, runtime), ...etcdConflicts(config)],
  open: (config, { clock, log, metrics }): Deps => {
    const { kubeconfigPath, workMs, settleMs, longestWriteMs, ...rest } = config;
    const { leaseNamespace: namespace, sweepSeconds, ...etcd } = rest;
    const options = {
      kubeconfigPath,
      userAgent: FIELD_MANAGER,
      fieldManager: FIELD_MANAGER,
      log,
    };
    const client = etcdIn(etcd);
    return new Deps({
      kube: openKube({ ...options, connectionsMax: CONNECTIONS_MAX }),
      openServer: (url) => openKube({ ...options, server: { url, servername: SERVERNAME } }),
      etcd: client && { client, prefixes: etcd.prefixes },
      clock,
      workMs,
      settleMs,
      longestWriteMs,
      lease: { namespace, name: STORAGE_MIGRATION_LEASE, sweepSeconds },
      metrics,
    });
  },
  readApiServer: readJson,
  close: (deps) => deps.close(),
  handle: async (event, context) => {
    // Loaded with the first event, so that it does not delay readiness.
    const { sweepAll, takeChange } = await import('./reconciler.ts');
    if (event.type === SWEEP) await sweepAll(context);
    else await takeChange(event, context);
    return undefined;
  },
});

interface Times {
  /** How long one request works on before it leaves the rest to the next. */
  readonly workMs: number;
  /** How long API servers have to agree; the last wait may begin with the last of the work. */
  readonly settleMs: number;
}

function timeConflicts(
  { workMs, settleMs }: Times,
  { deadlineMs }: { readonly deadlineMs: number },
): readonly string[] {
  const settle = `SETTLE_SECONDS is ${settleMs / 1_000}`;
  const work = `WORK_SECONDS ${workMs / 1_000}`;
  const neverSettles =
    `${settle} and ${work}, so that no request has the time to see the API servers agree for so ` +
    'long: set WORK_SECONDS higher than SETTLE_SECONDS';
  const isCut =
    `${settle}, ${work} and REQUEST_DEADLINE_SECONDS ${deadlineMs / 1_000}, so that requests ` +
    'would be given up in the middle of their work: set REQUEST_DEADLINE_SECONDS higher than ' +
    'both together, by what a page takes';
  return [
    ...(settleMs > 0 && settleMs >= workMs ? [neverSettles] : []),
    ...(workMs + settleMs >= deadlineMs ? [isCut] : []),
  ];
}
