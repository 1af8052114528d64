// The install manifests that Knative's Go modules carry with them, as the module cache has them:
// read once per pinned version and kept in the parts cache, so that a later start calls no Go.
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from '../../../../shared/kube/objects.ts';
import { moduleDir } from '../../local/parts/cache.ts';
import type { PartGroup } from '../../local/parts/part-entry.ts';
import { moduleSources } from '../../local/parts/go-command.ts';
import type { PartsSettings } from '../../local/parts/settings.ts';

interface ConfigSource {
  readonly group: PartGroup;
  readonly module: string;
  /** Read with all that is below them. */
  readonly directories: readonly string[];
}

const sources: readonly ConfigSource[] = [
  { group: 'knative-serving', module: 'knative.dev/networking', directories: ['config'] },
  { group: 'knative-serving', module: 'knative.dev/caching', directories: ['config'] },
  { group: 'knative-serving', module: 'knative.dev/serving', directories: ['config/core'] },
  { group: 'knative-kourier', module: 'knative.dev/net-kourier', directories: ['config'] },
  {
    group: 'knative-eventing',
    module: 'knative.dev/eventing',
    directories: [
      'config/core',
      'config/brokers/mt-channel-broker',
      'config/channels/in-memory-channel',
      'third_party/eventing-integrations-latest',
    ],
  },
];

const KEY_LENGTH = 16;

/** Every object of the modules' manifests, as it stands there. */
export async function moduleConfig(
  settings: PartsSettings,
  signal?: AbortSignal,
): Promise<readonly Manifest[]> {
  const cached = join(settings.cacheDir, `knative-config-${await cacheKey()}.json`);
  const known = await readFile(cached, 'utf8').catch(() => undefined);
  // Written by us and moved there whole.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  if (known !== undefined) return JSON.parse(known) as readonly Manifest[];
  const objects: Manifest[] = [];
  const ending = signal === undefined ? {} : { signal };
  for (const { group, module, directories } of sources) {
    const dir = await moduleSources(group, module, { settings, ...ending });
    for (const directory of directories) objects.push(...(await readConfig(join(dir, directory))));
  }
  const beside = `${cached}.${process.pid}`;
  await mkdir(dirname(cached), { recursive: true });
  await writeFile(beside, JSON.stringify(objects));
  await rename(beside, cached);
  return objects;
}

async function cacheKey(): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(sources));
  for (const group of new Set(sources.map((source) => source.group))) {
    hash.update(await readFile(join(moduleDir(group), 'go.sum')));
  }
  return hash.digest('hex').slice(0, KEY_LENGTH);
}

async function readConfig(directory: string): Promise<readonly Manifest[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.yaml'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const found: Manifest[] = [];
  for (const path of paths) found.push(...objectsIn(await readFile(path, 'utf8'), path));
  return found;
}

/** A symlink that the module's archive lost is a file with a path in it: YAML, but no object. */
export function objectsIn(text: string, path: string): readonly Manifest[] {
  return [...parseAllDocuments(text)].flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) {
      throw new Error(`${path} is not YAML: ${error.message}`, { cause: error });
    }
    const value: unknown = document.toJS();
    return isManifest(value) ? [value] : [];
  });
}

function isManifest(value: unknown): value is Manifest {
  return typeof value === 'object' && value !== null && 'apiVersion' in value && 'kind' in value;
}
