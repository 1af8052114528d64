// Knows the program of aenix's etcd operator by its image, which is called as that of another one.
// Pure.
import { textOf } from '../../../shared/kube/json.ts';
import type { RunsIn } from './program.ts';

export const isAenix: RunsIn = ({ image }) =>
  /(?:^|\/)aenix-io\/etcd-operator(?:[:@]|$)/.test(textOf(image));
