// Finds the YAML documents of a kustomization, in the order in which it lists them.
import { readFile, readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { generateConfigMap } from './config-map.ts';
import { type Document, Fields, ManifestError } from './fields.ts';

const KUSTOMIZATION = 'kustomization.yaml';
const API_VERSIONS = {
  Kustomization: 'kustomize.config.k8s.io/v1beta1',
  Component: 'kustomize.config.k8s.io/v1alpha1',
} as const;

/** `dir` holds a kustomization; files are named relative to `root`. */
export async function readKustomization(root: string, dir: string): Promise<readonly Document[]> {
  const path = join(dir, KUSTOMIZATION);
  const [document] = await readYaml(root, path);
  const fields = new Fields(relative(root, path), '', document?.value);
  const kind = fields.oneOf('kind', ['Kustomization', 'Component']);
  fields.oneOf('apiVersion', [API_VERSIONS[kind]]);
  const resources = fields.texts('resources');
  const components = fields.texts('components');
  const generators = fields.objects('configMapGenerator');
  // Images are for a cluster; here functions run from their bundles. The configurations of names
  // are not needed where names get no hash.
  fields.accept('images');
  await checkComplete(fields, dir, [...resources, ...fields.texts('configurations')]);
  fields.end();
  const documents = await Promise.all(generators.map((one) => generateConfigMap(one, dir)));
  for (const [index, resource] of [...resources, ...components].entries()) {
    const target = join(dir, resource);
    const info = await stat(target).catch((cause: unknown) => {
      throw fields.error(`resources[${index}]`, `names ${resource}, which is not there`, cause);
    });
    const found = info.isDirectory() ? readKustomization(root, target) : readYaml(root, target);
    documents.push(...(await found));
  }
  return documents;
}

/** A file that nobody lists would be deployed nowhere and look as if it were. */
async function checkComplete(
  fields: Fields,
  dir: string,
  resources: readonly string[],
): Promise<void> {
  const names = (await readdir(dir)).filter((name) => /\.ya?ml$/.test(name));
  const unlisted = names.find((name) => name !== KUSTOMIZATION && !resources.includes(name));
  if (unlisted !== undefined) throw fields.error('resources', `does not list ${unlisted}`);
}

async function readYaml(root: string, path: string): Promise<readonly Document[]> {
  const file = relative(root, path);
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new ManifestError(file, 'the file', 'cannot be read', { cause });
  });
  const documents = parseAllDocuments(text);
  // Empty input gives an empty array with the parser's findings beside it.
  return [...documents].map((document) => {
    const [error] = document.errors;
    if (error === undefined) return { file, value: document.toJS() };
    throw new ManifestError(file, 'the file', `is not YAML: ${error.message}`, { cause: error });
  });
}
