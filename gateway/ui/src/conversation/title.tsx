/** The conversation's title, which can be changed in place. */
import { TitleField, useRename } from "./rename";

export function Title({ id, title, canRename }: { id: string; title: string; canRename: boolean }) {
  const rename = useRename(id, title);
  if (rename.text !== undefined) return <TitleField of={rename} className="title" />;
  return (
    <h1 className="title">
      {canRename ? (
        <button type="button" title="Rename" onClick={rename.begin}>
          {rename.shown || " "}
        </button>
      ) : (
        rename.shown
      )}
    </h1>
  );
}
