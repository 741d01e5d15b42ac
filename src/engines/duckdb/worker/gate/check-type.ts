import { AppError } from '../../../../core/app-error.ts';
import { asciiLower } from '../../../../core/text/ascii-lower.ts';
import { didYouMean } from '../../../../core/text/did-you-mean.ts';
import { allowedTypeNames, allowedTypes, suggestedTypeNames } from './allowed-types.ts';
import type { TreeNode } from './parse-tree.ts';
import { typePosition } from './type-position.ts';

/** Refuses a type in the parse tree of a query that frames cannot hold or that endangers the engine. */
export function checkType(type: TreeNode, sql: string): void {
  const id = String(type.id);
  const alias = aliasOf(type);
  if (allowedTypes.has(id) && (alias === undefined || allowedTypeNames.has(asciiLower(alias)))) return;
  const name = id === 'UNBOUND' || id === 'USER' ? nameIn(type) : (alias ?? id);
  if (id !== name && allowedTypeNames.has(asciiLower(name))) return;
  const position = typePosition(sql, name);
  const shown = name.slice(0, 100);
  throw new AppError('sql_error', `type ${shown} does not exist${didYouMean(name, suggestedTypeNames)}`, { position });
}

/** A type such as JSON is another one under a name of its own. */
function aliasOf(type: TreeNode): string | undefined {
  const alias = (type.type_info as TreeNode | undefined)?.alias;
  return typeof alias === 'string' ? alias : undefined;
}

function nameIn(type: TreeNode): string {
  const info = type.type_info as TreeNode | undefined;
  return String(info?.name ?? info?.user_type_name ?? 'of this name');
}
