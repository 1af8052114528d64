// Images of programs that are on this machine anyway, static and dynamic ones: they hold all that
// the program needs to start where there is nothing else.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, it } from 'vitest';
import { writeImage } from '../../../knative/tools/images/image.ts';
import { programSpec } from '../../../knative/tools/images/program.ts';
import { resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { start, unpack } from './unpacked.ts';

const out = mkdtempSync(join(tmpdir(), 'ballast-programs-'));
afterAll(() => rmSync(out, { recursive: true, force: true }));

it.each([
  ['a static program', () => resolvePart('nats-server'), 'nats-server', /^nats-server: v2\./],
  ['a program with libraries', () => Promise.resolve(process.execPath), 'node', /^v\d+\./],
])('%s starts in its image', async (_, find, name, version) => {
  const image = `dev.local/ballast/${name}:tried`;
  const spec = await programSpec({ image, binary: await find(), arguments: ['--version'] });
  const { directory } = await writeImage(spec, join(out, name));
  const unpacked = unpack(directory, join(out, `${name}-root`));
  const { Entrypoint, Cmd = [] } = unpacked.config;
  const child = start(unpacked, {}, [...Entrypoint, ...Cmd]);

  expect(Entrypoint).toEqual([`/usr/bin/${name}`]);
  expect(child.stdout === null ? '' : await text(child.stdout)).toMatch(version);
});
