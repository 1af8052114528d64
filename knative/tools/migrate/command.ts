// The answer of `npm run migrate` to its arguments: what to apply for the migration of one kind
// that is there. It changes nothing.
import { stringify } from 'yaml';
import { MODE_OPTIONS } from '../../../shared/api/migration-rights.ts';
import type { Mode } from '../../../shared/api/storage-migration.ts';
import { readArguments, UsageError } from '../../../shared/arguments.ts';
import { printable } from '../../../shared/function/printable.ts';
import { type Version, WRITTEN } from '../../../shared/kube/own-kinds/versions.ts';
import { askWhetherServed } from './kind.ts';
import { type MigrationRequest, migrationFor, rightsFor } from './manifests.ts';

export const usageOf = (calledAs: string): string => `\
usage: ${calledAs} RESOURCE [options] | kubectl apply -f -

Prints a StorageMigration for RESOURCE, such as widgets.example.com or secrets, and before it the
ClusterRole and ClusterRoleBinding that give the function rights on just this kind. The role goes
when the StorageMigration is deleted.

  --rights          prints the rights alone, which stay: for a CRD that asks by annotation
  --mode MODE       who rewrites: ballast (when absent), in-tree (Kubernetes' own migrator) or
                    community (kube-storage-version-migrator)
  --dry-run         the migration only asks what would be refused, and writes nothing
  --verify-etcd     etcd has to show, too, that nothing is stored in another version
  --never-trim      the CRD's status.storedVersions is left alone, proof or not
  --namespace NAME  where the function runs (ballast-system)
  --offline         does not ask the API server of $KUBECONFIG whether there is such a kind
  --help            this
`;

export const USAGE = usageOf('npm run -s migrate --');

const OPTIONS = {
  rights: { type: 'boolean' },
  mode: { type: 'string' },
  'dry-run': { type: 'boolean' },
  'verify-etcd': { type: 'boolean' },
  'never-trim': { type: 'boolean' },
  namespace: { type: 'string' },
  offline: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** As kubectl says it: the plural, and after a dot the group. */
const RESOURCE = /^[a-z]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

export async function answer(args: readonly string[], usage = USAGE): Promise<string> {
  const { values, positionals } = readArguments(args, OPTIONS);
  if (values.help === true) return usage;
  const [name, ...more] = positionals;
  if (name === undefined) throw new UsageError('which resource is to be migrated?');
  if (more.length > 0) throw new UsageError(`one resource at a time, not also ${more.join(' ')}`);
  if (!RESOURCE.test(name)) {
    throw new UsageError(`${name} is no resource: write the plural and its group, with a dot`);
  }
  const isDry = values['dry-run'] === true;
  const mode = modeOf(values.mode);
  if (isDry && mode !== 'Ballast') throw new UsageError('another migrator cannot run dry');
  const [resource = '', ...group] = name.split('.');
  const request: MigrationRequest = {
    group: group.join('.'),
    resource,
    dryRun: isDry,
    trim: isDry || values['never-trim'] === true ? 'Never' : 'OnProof',
    mode,
    verifiesEtcd: values['verify-etcd'] === true,
    namespace: values.namespace ?? 'ballast-system',
  };
  const own = values.offline === true ? WRITTEN : await ownVersion(name, request);
  const manifests =
    values.rights === true
      ? rightsFor(request, { doStay: true })
      : [...rightsFor(request), migrationFor(request, own)];
  return manifests.map((manifest) => stringify(manifest)).join('---\n');
}

/** The version of ours in which it is printed; a kind that is not there is refused. */
async function ownVersion(name: string, { group, resource }: MigrationRequest): Promise<Version> {
  const served = await askWhetherServed(group, resource);
  if (served.is === 'served') return served.own;
  if (served.is === 'unknown') {
    throw new UsageError(
      `the API server knows no ${name}: "kubectl api-resources" lists what there is, as plural ` +
        'and group; --offline prints it all the same',
    );
  }
  const note = `Whether there is a ${name} could not be asked, and it is printed all the same.`;
  process.stderr.write(`${note} ${printable(served.why)}\n`);
  return WRITTEN;
}

function modeOf(option: string = MODE_OPTIONS.Ballast): Mode {
  const found = MODES.find((mode) => MODE_OPTIONS[mode] === option);
  if (found !== undefined) return found;
  throw new UsageError(`--mode is ${Object.values(MODE_OPTIONS).join(', ')}, and not ${option}`);
}

const MODES: readonly Mode[] = ['Ballast', 'InTree', 'Community'];
