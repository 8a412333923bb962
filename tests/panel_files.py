"""Files of panels in the forms that are documented, with genes of no vendor's."""

from __future__ import annotations

import gzip
import json

IDS = {"CD3D": "ENSG00000167286", "MS4A1": "ENSG00000156738", "NKG7": "ENSG00000105374"}
GENES = [*IDS]


def predesigned(path, first="Genes"):
    rows = [f"{gene},{gene_id},8,1,marker" for gene, gene_id in IDS.items()]
    rows.append("NegControlProbe_00042,,,,")
    path.write_text("\n".join([f"{first},Ensembl_ID,Num_Probesets,Codewords,Annotation", *rows]))


def custom_list(path):
    rows = [f"{gene},{gene_id},," for gene, gene_id in IDS.items()]
    rows[1] = f"MS4A1,{IDS['MS4A1']},4,forced"
    path.write_text("\n".join(["Gene,Ensembl ID,Probe sets,Force", *rows]))


def target(name, gene_id="", descriptor="gene", codewords=(7,)):
    data = {"name": name, "id": gene_id}
    return {
        "type": {"descriptor": descriptor, "data": data},
        "codewords": list(codewords),
        "info": {"gene_coverage": 5},
    }


def document():
    targets = [target(gene, gene_id) for gene, gene_id in IDS.items()]
    targets.append(target("BLANK_0001", "BLANK_0001", "blank"))
    targets.append(target("spike", "spike", "negative_control_probe"))
    identity = {"name": "A panel of a test"}
    panel = {"identity": identity, "species": "Human", "tissue": "Blood", "num_gene_targets": 3}
    return {"payload": {"panel": panel, "targets": targets}}


def panel_json(path):
    path.write_text(json.dumps(document()))


def codebook(path):
    rows = [
        "# version 1",
        "name,id,barcodeType,b1,b2,b3",
        "CD3D,ENST00000300692,merfish,1,1,0",
        "MS4A1,ENST00000345732,merfish,1,0,1",
        "NKG7,ENST00000221978,merfish,0,1,1",
        "Blank-0,,merfish,1,1,1",
        "Blank-12,,merfish,0,0,1",
    ]
    path.write_text("\n".join(rows))


def cosmx(path):
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["About this list"])
    page = book.create_sheet("Genes")
    page.append(["Genes of a test"])
    page.append(["Display Name", "Description"])
    for gene in [*GENES, "Negative1", "SystemControl3", "NegPrb07"]:
        page.append([gene, "x"])
    book.save(path)


#: Of each: file, form, and controls.
FORMS = {
    "predesigned.csv": (predesigned, "10x predesigned panel", 1),
    "order.csv": (custom_list, "10x custom gene list", 0),
    "gene_panel.json": (panel_json, "10x gene_panel.json", 2),
    "codebook.csv": (codebook, "MERSCOPE codebook", 2),
    "cosmx.xlsx": (cosmx, "CosMx gene list", 3),
    "list.txt": (lambda path: path.write_text("\n".join(GENES)), "list", 0),
    "table.csv": (lambda path: path.write_text("\n".join(["gene", *GENES])), "table", 0),
    "sets.gmt": (lambda path: path.write_text("\t".join(["T", "x", *GENES])), "gene sets", 0),
    "packed.csv.gz": (
        lambda path: path.write_bytes(gzip.compress("\n".join(["gene", *GENES]).encode())),
        "table",
        0,
    ),
}


def written(folder, name):
    path = folder / name
    FORMS[name][0](path)
    return path
