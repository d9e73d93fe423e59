-- Links between Markdown files become links between pages: a.md to a.html, README.md to index.html, a/ to a/index.html.
-- Tables scroll in a box of their own where they are too wide.
function Link(link)
    if link.target:match("^%a+:") then
        return link
    end
    local path, anchor = link.target:match("^([^#]*)(.*)$")
    path = path:gsub("README%.md$", "index.html"):gsub("%.md$", ".html")
    if path:match("/$") then
        path = path .. "index.html"
    end
    link.target = path .. anchor
    return link
end

function Table(element)
    return pandoc.Div({ element }, { class = "table" })
end
