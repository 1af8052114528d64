// The scripts by which shells, and kubectl, ask kubectl ballast what may stand next on a line.
import { readArguments, UsageError } from '../../../shared/arguments.ts';

export const usageOf = (calledAs: string): string => `\
usage: ${calledAs} bash | zsh | fish | kubectl

  bash       source <(kubectl-ballast completion bash)
  zsh        source <(kubectl-ballast completion zsh)
  fish       kubectl-ballast completion fish | source
  kubectl    a program by which kubectl completes "kubectl ballast", in each shell in which it
             completes its own: write it to kubectl_complete-ballast, executable, on the PATH

  -h, --help this text
`;

const BASH = `\
# Completion of kubectl-ballast for bash.
_kubectl_ballast() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :0) compopt -o default ;;
      :*) ;;
      ?*) COMPREPLY+=("$line") ;;
    esac
  done < <(kubectl-ballast __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _kubectl_ballast kubectl-ballast
`;

const ZSH = `\
#compdef kubectl-ballast
# Completion of kubectl-ballast for zsh.
_kubectl_ballast() {
  local line
  local -a found
  for line in "\${(@f)$(kubectl-ballast __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      (:0) _files ;;
      (:*) ;;
      (?*) found+=("$line") ;;
    esac
  done
  compadd -a found
}
compdef _kubectl_ballast kubectl-ballast
`;

const FISH = `\
# Completion of kubectl-ballast for fish.
function __kubectl_ballast
    set -l words (commandline -opc)
    set -l begun (commandline -ct)
    for line in (kubectl-ballast __complete $words[2..] "$begun" 2>/dev/null)
        switch $line
            case ':0'
                __fish_complete_path "$begun"
            case ':*'
            case '*'
                echo $line
        end
    end
end
complete -c kubectl-ballast -f -a '(__kubectl_ballast)'
`;

const KUBECTL = `\
#!/bin/sh
# Completion of "kubectl ballast", as kubectl asks for it.
exec kubectl-ballast __complete "$@"
`;

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
  kubectl: KUBECTL,
};
export const SHELLS = Object.keys(SCRIPTS);

export function answer(args: readonly string[], usage: string): string {
  const { values, positionals } = readArguments(args, { help: { type: 'boolean', short: 'h' } });
  if (values.help === true) return usage;
  const [shell, ...more] = positionals;
  if (shell === undefined) throw new UsageError('for which shell?');
  if (more.length > 0) throw new UsageError(`one shell at a time, not also ${more.join(' ')}`);
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script !== undefined) return script;
  throw new UsageError(`nothing is known of "${shell}": there are ${SHELLS.join(', ')}`);
}
