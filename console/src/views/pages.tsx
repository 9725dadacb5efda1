// Web pages of all plugins. What a page calls itself is foreign text, and its address no link.

import { part, remove } from "../api";
import { useLive } from "../live";
import { Act, Empty, Heading, Moment, Rows, Status } from "../parts";
import { say } from "../words";

export function Pages() {
  const pages = useLive("pages").value?.pages;
  return (
    <>
      <Heading word="pages" />
      {!pages ? (
        <p>{say("loading")}</p>
      ) : pages.length === 0 ? (
        <Empty word="noPages" />
      ) : (
        <Rows
          label={say("pages")}
          rows={pages}
          id={(page) => page.id}
          columns={[
            { word: "title", cell: (page) => page.title, class: "wide" },
            { word: "address", cell: (page) => page.address, class: "wide" },
            { word: "status", cell: (page) => <Status of={page.status} /> },
            { word: "plugin", cell: (page) => page.plugin },
            { word: "tenant", cell: (page) => page.tenant },
            { word: "session", cell: (page) => page.session },
            { word: "started", cell: (page) => <Moment at={page.opened} /> },
            {
              word: "action",
              cell: (page) => <Act label={say("close")} confirm="confirmStop" act={() => remove(`/v1/operator/pages/${part(page.id)}`)} />,
            },
          ]}
        />
      )}
    </>
  );
}
